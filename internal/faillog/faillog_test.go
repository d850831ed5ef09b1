package faillog_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

func TestAnOutageIsToldOnceAndItsEnd(t *testing.T) {
	var said bytes.Buffer
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	log := faillog.OfTask("claim", clock, slog.New(slog.NewTextHandler(&said, nil)))
	heard := func() string {
		defer said.Reset()
		return said.String()
	}
	log.Observe(nil)
	require.Empty(t, heard(), "nothing has failed")
	for _, why := range []string{"first", "second"} {
		log.Observe(errors.New(why))
		require.True(t, log.Failing())
		clock.Advance(time.Second)
	}
	lines := heard()
	require.Equal(t, 1, strings.Count(lines, "\n"), lines)
	require.Contains(t, lines, "task=claim error=first")
	log.Observe(nil)
	require.False(t, log.Failing())
	require.Contains(t, heard(), "task=claim after=2s")
	log.Observe(nil)
	require.Empty(t, heard())
	log.Observe(errors.New("third"))
	require.Contains(t, heard(), "error=third", "another outage")
}

// panicked is an error with the stack of a panic.
type panicked struct{ error }

func (panicked) StackTrace() string { return "goroutine 7" }

func TestAThingSpeaksInItsOwnTexts(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	r := faillog.New(clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		slog.New(slog.NewTextHandler(&said, nil)),
		faillog.Texts{Fails: "Redis is away", Works: "Redis is back"})
	r.Observe(fmt.Errorf("ask: %w", panicked{errors.New("boom")}))
	r.Observe(nil)
	require.Regexp(t, `level=WARN msg="Redis is away" error="ask: boom" stack="goroutine 7"\n.*level=INFO msg="Redis is back" after=0s\n$`, said.String())
}
