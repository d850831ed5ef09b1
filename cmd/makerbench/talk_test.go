package main

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// counter is a Reporter that counts lines.
type counter struct{ lines atomic.Int64 }

func (c *counter) Log(entity.LogType, string) { c.lines.Add(1) }
func (c *counter) Progress(int)               {}
func (c *counter) Checkpoint(string)          {}
func (c *counter) Waits() (begins func())     { return func() {} }

func TestTalkersTalkOnlyWhenTheyAreToldTo(t *testing.T) {
	now := clocktest.NewManual(noon)
	g, said := newTalkGroup(now), &counter{}
	ended := make(chan entity.Outcome)
	go func() { ended <- g.run(t.Context(), entity.Run{}, said) }()
	require.Eventually(t, func() bool { return g.started.Load() == 1 }, 10*time.Second, time.Millisecond)
	ticks := func(until func() bool) {
		require.Eventually(t, func() bool {
			now.Advance(talkEvery)
			return until()
		}, 10*time.Second, time.Millisecond)
	}
	n := 0
	ticks(func() bool { n++; return n == 20 })
	require.Zero(t, said.lines.Load())
	g.logging.Store(true)
	ticks(func() bool { return said.lines.Load() > 2 })
	require.InDelta(t, g.lines.Load(), said.lines.Load(), 1)
	close(g.over)
	require.Equal(t, entity.StatusSuccess, (<-ended).Status)
}
