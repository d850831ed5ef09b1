package watching_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// marked is a store with a mark.
type marked struct {
	repository.StoreStates
	mark  time.Time
	moves int
	// pulls has an entry for each call of pullBack: true with plans.
	pulls []bool
	fails error
}

func (m *marked) StoreState(context.Context) (entity.StoreState, error) {
	return entity.StoreState{Mark: m.mark}, m.fails
}

func (m *marked) MoveStoreMark(_ context.Context, from, to time.Time) (bool, error) {
	if m.fails != nil || !m.mark.Equal(from) {
		return false, m.fails
	}
	m.moves++
	m.mark = to
	return true, nil
}

func (m *marked) pullBack(_ context.Context, _ time.Time, plans bool) (int, error) {
	if m.fails != nil {
		return 0, m.fails
	}
	m.pulls = append(m.pulls, plans)
	return 1, nil
}

func stepsOf(m *marked, c *clocktest.Manual) *watching.Steps {
	return watching.NewSteps(watching.StepsDeps{
		Marks: m, PullBack: m.pullBack, Clock: c, StoreClock: c, Logger: slog.New(slog.DiscardHandler), Wake: func() {},
	})
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The mark follows the store's clock, a statement each five seconds.
func TestTheMarkFollowsTheStoresClock(t *testing.T) {
	c, m := clocktest.NewManual(noon), &marked{}
	s := stepsOf(m, c)
	for range 100 {
		require.NoError(t, s.Check(t.Context()))
		c.Advance(time.Second)
	}
	require.Equal(t, 20, m.moves)
	require.Empty(t, m.pulls)
	require.WithinDuration(t, c.Now(), m.mark, 6*time.Second)
	c.Jump(time.Hour) // forward shortens waits, no more
	require.NoError(t, s.Check(t.Context()))
	require.Empty(t, m.pulls)
	require.Equal(t, c.Now(), m.mark)
	c.Jump(-time.Second)
	require.NoError(t, s.Check(t.Context()))
	require.Empty(t, m.pulls, "nodes measure the clock")
}

// The next look mends a step back, also if the leader has just begun. It does so for a minute, because others still
// write moments from before the step.
func TestAStepBackIsMendedAtOnce(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		c, m := clocktest.NewManual(noon), &marked{}
		s := stepsOf(m, c)
		require.NoError(t, s.Check(t.Context()))
		if fresh {
			s = stepsOf(m, c)
		}
		c.Jump(-3 * time.Second)
		m.fails = errors.New("away")
		require.Error(t, s.Check(t.Context()))
		m.fails = nil
		require.NoError(t, s.Check(t.Context()), "it is tried again")
		require.Equal(t, []bool{true}, m.pulls)
		require.Equal(t, c.Now(), m.mark)
		for range 120 {
			c.Advance(time.Second)
			require.NoError(t, s.Check(t.Context()))
		}
		require.Len(t, m.pulls, 20)
		require.NotContains(t, m.pulls[1:], true)
	}
}

// Neither of two leaders takes the mark of the other for a step.
func TestTwoLeadersMoveOneMark(t *testing.T) {
	c, m := clocktest.NewManual(noon), &marked{}
	a, b := stepsOf(m, c), stepsOf(m, c)
	for range 60 {
		c.Advance(time.Second)
		require.NoError(t, a.Check(t.Context()))
		require.NoError(t, b.Check(t.Context()))
	}
	require.Empty(t, m.pulls)
	require.WithinDuration(t, c.Now(), m.mark, 6*time.Second)
	c.Jump(-time.Minute)
	require.NoError(t, a.Check(t.Context()))
	require.NoError(t, b.Check(t.Context()), "it does the same again, which changes nothing")
}
