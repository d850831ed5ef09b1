package upkeep_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/upkeep"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// handTicker ticks when the test says.
type handTicker struct {
	err  error
	runs map[string]func(ctx context.Context)
}

func (h *handTicker) Every(name string, _ time.Duration, run func(ctx context.Context)) error {
	h.runs[name] = run
	return h.err
}

func newTicker() *handTicker { return &handTicker{runs: map[string]func(ctx context.Context){}} }

func TestADutyThatFailsIsToldOnceAndAgainWhenItWorks(t *testing.T) {
	var log bytes.Buffer
	clock, ticker := clocktest.NewManual(noon), newTicker()
	d := upkeep.NewDuties(clock, ticker, slog.New(slog.NewTextHandler(&log, nil)))
	var fail func() error
	require.NoError(t, d.Every("scan", time.Second, func(context.Context) error { return fail() }))
	tick := func(f func() error) string {
		log.Reset()
		fail = f
		clock.Advance(time.Second)
		ticker.runs["scan"](t.Context())
		return log.String()
	}
	require.Empty(t, tick(func() error { return nil }))
	require.Contains(t, tick(func() error { return errors.New("disk full") }), "disk full")
	require.Empty(t, tick(func() error { return errors.New("disk full") }), "not every second")
	require.Equal(t, 2*time.Second, d.Ages()["scan"], "a failed tick is none")
	require.Contains(t, tick(func() error { return nil }), "works again")
	require.Zero(t, d.Ages()["scan"])
	require.Contains(t, tick(func() error { panic("nil map") }), "nil map", "a panic ends the tick and nothing else")
	require.Contains(t, tick(func() error { return nil }), "works again")
}

func TestADutyThatTheStopCutOffDoesNotComplain(t *testing.T) {
	var log bytes.Buffer
	ticker := newTicker()
	d := upkeep.NewDuties(clocktest.NewManual(noon), ticker, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, d.Every("scan", time.Second, func(ctx context.Context) error { return ctx.Err() }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ticker.runs["scan"](ctx)
	require.Empty(t, log.String())
}

// A loop counts as stalled after five intervals, and not before 15 s.
func TestDutiesTellTheirAgesAndLimits(t *testing.T) {
	clock, ticker := clocktest.NewManual(noon), newTicker()
	d := upkeep.NewDuties(clock, ticker, slog.New(slog.DiscardHandler))
	nothing := func(context.Context) error { return nil }
	require.NoError(t, d.Every("scan", time.Second, nothing))
	require.NoError(t, d.Every("retention", time.Minute, nothing))
	clock.Advance(20 * time.Second)
	ticker.runs["retention"](t.Context())
	clock.Advance(time.Second)
	loops := d.Loops()
	slices.SortFunc(loops, func(a, b service.Loop) int { return strings.Compare(a.Name, b.Name) })
	require.Equal(t, []service.Loop{
		{Name: "retention", Age: time.Second, Limit: 5 * time.Minute},
		{Name: "scan", Age: 21 * time.Second, Limit: 15 * time.Second},
	}, loops)
	ticker.err = errors.New("no such interval")
	require.ErrorContains(t, d.Every("never", 0, nothing), "never")
}
