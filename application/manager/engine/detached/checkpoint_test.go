package detached_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A checkpoint that was taken before the call failed is the next attempt's,
// although the node of the call was told none.
func TestACheckpointOutlivesAFailedCall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := rigOn(t, cfg, 2)
		var given []string
		for _, n := range r.nodes {
			n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
				given = append(given, run.Execution.Checkpoint)
				accepted := r.Reply(ctx, run, rep)
				if run.Execution.Attempt > 1 {
					return accepted
				}
				state := "row 7"
				if err := r.report(r.nodes[1], run.Execution.ID, 1,
					entity.RunReport{Progress: -1, Checkpoint: &state}); err != nil {
					t.Error(err)
				}
				return entity.Failed(entity.ReasonError, "the target answered 500")
			})
		}
		exec := r.one().Trigger(t, r.job(limited(1)).ID)[0]
		enginetest.Await(t, func() bool {
			return r.one().Execution(t, exec.ID).RetryCount == 1
		}, "it is to be repeated")
		require.Equal(t, "row 7", r.one().Execution(t, exec.ID).Checkpoint)
		r.tryAgain(exec.ID, 2)
		require.Equal(t, []string{"", "row 7"}, given)
	})
}

// A checkpoint that is taken while the deadline is being recorded is not lost.
func TestACheckpointAtTheDeadlineIsTheNextAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		exec := r.detached(r.one(), r.job(limited(1)).ID)
		r.one().Clock.Advance(limit)
		state, once := "row 7", sync.Once{}
		r.one().Faults.Before(func(name string) {
			if name == "complete" {
				once.Do(func() {
					require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{Progress: -1, Checkpoint: &state}))
				})
			}
		})
		ended, err := r.one().Detached.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, ended)
		require.Equal(t, []any{entity.StatusWaiting, "row 7"},
			[]any{r.one().Execution(t, exec.ID).Status, r.one().Execution(t, exec.ID).Checkpoint})
	})
}
