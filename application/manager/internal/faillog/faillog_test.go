package faillog_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/faillog"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

func TestAnOutageIsToldOnceAndItsEnd(t *testing.T) {
	var said bytes.Buffer
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	log := faillog.New("claim", clock, slog.New(slog.NewTextHandler(&said, nil)))
	heard := func() string {
		defer said.Reset()
		return said.String()
	}
	log.Note(nil)
	require.Empty(t, heard(), "nothing has failed")
	for _, why := range []string{"first", "second"} {
		log.Note(errors.New(why))
		require.True(t, log.Lasts())
		clock.Advance(time.Second)
	}
	lines := heard()
	require.Equal(t, 1, strings.Count(lines, "\n"), lines)
	require.Contains(t, lines, "duty=claim error=first")
	log.Note(nil)
	require.False(t, log.Lasts())
	require.Contains(t, heard(), "duty=claim after=2s")
	log.Note(nil)
	require.Empty(t, heard())
	log.Note(errors.New("third"))
	require.Contains(t, heard(), "error=third", "another outage")
}
