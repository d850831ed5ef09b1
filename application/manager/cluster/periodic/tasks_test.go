package periodic_test

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

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// handTicker ticks when the test says.
type handTicker struct {
	err  error
	runs map[string]func(ctx context.Context)
}

func (h *handTicker) Every(name string, _ time.Duration, may func(ctx context.Context) error,
	run func(ctx context.Context),
) error {
	h.runs[name] = func(ctx context.Context) {
		if may == nil || may(ctx) == nil {
			run(ctx)
		}
	}
	return h.err
}

func newTicker() *handTicker { return &handTicker{runs: map[string]func(ctx context.Context){}} }

func TestATaskThatFailsIsToldOnceAndAgainWhenItWorks(t *testing.T) {
	var log bytes.Buffer
	clock, ticker := clocktest.NewManual(noon), newTicker()
	d := periodic.NewTasks(clock, ticker, nil, slog.New(slog.NewTextHandler(&log, nil)))
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
	require.Empty(t, tick(func() error { return periodic.ErrIdle }), "that says nothing")
	require.Equal(t, 3*time.Second, d.Ages()["scan"])
	again := tick(func() error { return nil })
	require.Contains(t, again, "works again")
	require.Contains(t, again, "after=3s")
	require.Zero(t, d.Ages()["scan"])
	require.Empty(t, tick(func() error { return periodic.ErrIdle }))
	require.Zero(t, d.Ages()["scan"], "it is well")
	require.Contains(t, tick(func() error { panic("nil map") }), "nil map", "a panic ends the tick and nothing else")
	require.Contains(t, tick(func() error { return nil }), "works again")
}

func TestATaskThatTheStopCutOffDoesNotComplain(t *testing.T) {
	var log bytes.Buffer
	ticker := newTicker()
	d := periodic.NewTasks(clocktest.NewManual(noon), ticker, nil, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, d.Every("scan", time.Second, func(ctx context.Context) error { return ctx.Err() }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ticker.runs["scan"](ctx)
	require.Empty(t, log.String())
}

// A loop counts as stalled after five intervals, and not before 15 s.
func TestTasksTellTheirAgesAndLimits(t *testing.T) {
	clock, ticker := clocktest.NewManual(noon), newTicker()
	d := periodic.NewTasks(clock, ticker, nil, slog.New(slog.DiscardHandler))
	nothing := func(context.Context) error { return nil }
	require.NoError(t, d.Every("scan", time.Second, nothing))
	require.NoError(t, d.Every("retention", time.Minute, nothing))
	clock.Advance(20 * time.Second)
	ticker.runs["retention"](t.Context())
	clock.Advance(time.Second)
	loops := d.Statuses()
	slices.SortFunc(loops, func(a, b periodic.Status) int { return strings.Compare(a.Name, b.Name) })
	require.Equal(t, []periodic.Status{
		{Name: "retention", Age: time.Second, Limit: 5 * time.Minute},
		{Name: "scan", Age: 21 * time.Second, Limit: 15 * time.Second},
	}, loops)
	ticker.err = errors.New("no such interval")
	require.ErrorContains(t, d.Every("never", 0, nothing), "never")
}

// lead is what the test says about who leads.
type lead struct {
	since time.Duration
	leads bool
}

func (l *lead) IsLeader(context.Context) error {
	if !l.leads {
		return errors.New("another node leads")
	}
	return nil
}

func (l *lead) Since() (time.Duration, bool) { return l.since, l.leads }

// A task of the cluster is done by who leads, and nobody else is stalled.
func TestTheLeaderDoesTheTasksOfTheLeader(t *testing.T) {
	clock, ticker, l := clocktest.NewManual(noon), newTicker(), &lead{}
	d := periodic.NewTasks(clock, ticker, l, slog.New(slog.DiscardHandler))
	done, fail := 0, error(nil)
	require.NoError(t, d.LeaderOnly("relay", time.Second, func(context.Context) error { done++; return fail }))
	require.NoError(t, d.Every("scan", time.Second, func(context.Context) error { return nil }))
	tick := func() {
		for _, run := range ticker.runs {
			run(t.Context())
		}
	}
	loops := func(at time.Duration) map[string]time.Duration {
		clock.Advance(at - clock.Monotonic())
		return d.Ages()
	}
	tick()
	require.Zero(t, done)
	require.Equal(t, map[string]time.Duration{"scan": time.Hour}, loops(time.Hour))
	require.False(t, d.Leads())

	l.leads, l.since = true, time.Hour-time.Second
	require.True(t, d.Leads())
	require.Equal(t, map[string]time.Duration{"scan": time.Hour, "relay": time.Second}, loops(time.Hour),
		"it counts from the moment it leads")
	tick()
	require.Equal(t, 1, done)
	require.Equal(t, 2*time.Second, loops(time.Hour + 2*time.Second)["relay"])
	fail = errors.New("away")
	tick()
	require.Equal(t, 2*time.Second, loops(time.Hour + 2*time.Second)["relay"])

	l.leads = false
	tick()
	require.Equal(t, 2, done)
	require.NotContains(t, loops(2*time.Hour), "relay")
	l.leads, l.since, fail = true, 2*time.Hour, nil
	require.Zero(t, loops(2 * time.Hour)["relay"], "the time of others does not count")
	tick()
	require.Equal(t, 3, done)
}

func TestWhoIsAloneLeads(t *testing.T) {
	clock, ticker := clocktest.NewManual(noon), newTicker()
	d := periodic.NewTasks(clock, ticker, nil, slog.New(slog.DiscardHandler))
	done := 0
	require.NoError(t, d.LeaderOnly("relay", time.Second, func(context.Context) error { done++; return nil }))
	clock.Advance(time.Minute)
	require.Equal(t, time.Minute, d.Ages()["relay"])
	ticker.runs["relay"](t.Context())
	require.Equal(t, 1, done)
	require.True(t, d.Leads())
}
