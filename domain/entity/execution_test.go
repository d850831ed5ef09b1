package entity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A target that remembers the greatest token refuses whatever came before it.
func TestFencingTokenGrowsWithEveryClaimAndEveryFire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		last := int64(0)
		for fence := range int64(rapid.IntRange(1, 5).Draw(t, "fires")) {
			claims := int64(rapid.IntRange(1, 70_000).Draw(t, "claims"))
			for _, token := range []int64{1, min(2, claims), claims} {
				run := entity.Execution{JobFence: fence + 1, Token: token}
				require.GreaterOrEqual(t, run.FencingToken(), last)
				last = run.FencingToken()
			}
			next := entity.Execution{JobFence: fence + 2, Token: 1}
			require.Greater(t, next.FencingToken(), last, "the next fire's first claim beats every zombie of this one")
		}
	})
}

func TestFencingTokenOfPlainJobsIsTheRowsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fence, token, want int64 }{
		{0, 1, 1},
		{0, 1 << 40, 1 << 40},
		{1, 0, 1 << 16},
		{1, 1, 1<<16 + 1},
		{3, 0xffff, 3<<16 + 0xffff},
		{3, 1 << 20, 3<<16 + 0xffff},
	} {
		run := entity.Execution{JobFence: c.fence, Token: c.token}
		require.Equal(t, c.want, run.FencingToken(), "%+v", c)
	}
}

func TestIdempotencyKeyIsThatOfTheFirstRun(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a", (&entity.Execution{ID: "a"}).IdempotencyKey())
	require.Equal(t, "root", (&entity.Execution{ID: "a", RetryOf: "b", RootID: "root"}).IdempotencyKey())
}

func TestLatenessCountsFromTheDueTime(t *testing.T) {
	t.Parallel()
	run := entity.Execution{ScheduledTime: start, DueTime: start.Add(time.Second)}
	require.Zero(t, run.Lateness(), "not started")
	run.StartTime = start.Add(1500 * time.Millisecond)
	require.Equal(t, 500*time.Millisecond, run.Lateness())
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	require.Equal(t, entity.Outcome{Status: entity.StatusSuccess, Result: "r", Progress: 100}, entity.Succeeded("r"))
	require.Equal(t, entity.Outcome{Status: entity.StatusFailed, Reason: entity.ReasonExitCode, Message: "m"},
		entity.Failed(entity.ReasonExitCode, "m"))
}

// A write counts only under the node, epoch and token that the writer has read.
func TestAnExecutionIsHeldByOneAttempt(t *testing.T) {
	t.Parallel()
	mine := entity.Execution{Status: entity.StatusRunning, NodeID: "a", Epoch: 2, Token: 3}
	for _, change := range []func(e *entity.Execution){
		func(e *entity.Execution) { e.Status = entity.StatusWaiting },
		func(e *entity.Execution) { e.NodeID = "b" },
		func(e *entity.Execution) { e.Epoch++ },
		func(e *entity.Execution) { e.Token++ },
	} {
		stored := mine
		require.True(t, stored.HeldAs(&mine))
		change(&stored)
		require.False(t, stored.HeldAs(&mine))
	}
}
