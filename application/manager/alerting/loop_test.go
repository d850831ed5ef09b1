package alerting_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// stream answers each turn with as many events, and wakes the loop again.
type stream struct {
	events int
	more   bool
	wake   func()
	turns  int
}

func (s *stream) EnsureDefaults(context.Context) error               { return nil }
func (s *stream) RecoverJobs(context.Context, []string) (int, error) { return 0, nil }
func (s *stream) RunOnce(context.Context) (taken int, more bool, err error) {
	s.turns++
	s.wake()
	return s.events, s.more, nil
}

// A loop that is woken all the time looks ten times a second where few events come, and rests longer after many: a
// storm is few turns. Where more wait than a turn takes, it does not rest for them.
func TestAStormIsFewTurns(t *testing.T) {
	for _, c := range []struct {
		events int
		more   bool
		turns  int
	}{{0, false, 100}, {3, false, 100}, {10, false, 34}, {500, false, 20}, {5000, true, 100}} {
		synctest.Test(t, func(t *testing.T) {
			s := &stream{events: c.events, more: c.more}
			l := manager.NewLoop(manager.LoopDeps{
				Turns: s, Plan: func(context.Context) (int, error) { return 0, nil }, Clock: clock.NewSystem(),
				Leads: func() bool { return true }, Note: func(error) {},
			})
			s.wake = l.Wake
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
			defer stop()
			l.Run(ctx)
			require.Equal(t, c.turns, s.turns, "%d events a turn", c.events)
		})
	}
}
