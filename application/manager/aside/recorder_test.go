package aside_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestWhatIsSetAsideIsToldForAnHour(t *testing.T) {
	c := clocktest.NewManual(time.Unix(0, 0))
	var log bytes.Buffer
	var counted []string
	b := aside.NewRecorder(c, nil, func(kind string) { counted = append(counted, kind) },
		slog.New(slog.NewTextHandler(&log, nil)))
	require.Empty(t, b.Trouble())
	event := entity.SetAside{Kind: entity.AsideEvent, ID: "e1", Job: "j1", Reason: "too long"}
	b.Note(event)
	b.Note(event)
	b.Note(entity.SetAside{Kind: entity.AsidePlan, ID: "a1"})
	b.Reduced(entity.AsideEvent, "e2", errors.New("too long"))
	require.Equal(t, []string{"EVENT", "EVENT", "PLAN"}, counted)
	require.Equal(t, 3, strings.Count(log.String(), "\n"), "each is logged once")
	require.Contains(t, log.String(), "job=j1")
	require.Contains(t, b.Trouble(), "(event: 1, plan: 1, reduced event: 1)")
	c.Advance(time.Hour + time.Second)
	require.Empty(t, b.Trouble())
	var none *aside.Recorder
	none.Note(event)
	none.Reduced(entity.AsideEvent, "e", nil)
	require.Empty(t, none.Trouble())
	require.Nil(t, none.Blames())
}
