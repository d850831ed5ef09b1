package follow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The last shard ends between the look at the others and the transaction that pays for them.
func TestAnEndBesideAnotherOfItsFireIsNotLost(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	last := make(chan struct{})
	n.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if run.Execution.ShardIndex == 1 {
			select {
			case <-last:
			case <-ctx.Done():
			}
		}
		return entity.Succeeded("done")
	})
	sharded := n.Add(t, enginetest.Job("sharded", func(j *entity.Job) { j.ShardCount = 2 }))
	job := n.Add(t, flowJob("calls", stepsOf(
		fmt.Sprintf(`{"name": "two", "job": {"name": "sharded", "id": %q}}`, sharded.ID), custom("after", `"needs": ["two"]`)), nil))
	root := fire(t, n, job)
	ended := func(shard int) bool {
		for _, e := range firesOf(t, n, sharded, root, "two") {
			if e.ShardIndex == shard {
				return e.Status == entity.StatusSuccess
			}
		}
		return false
	}
	goOn(t, n, func() bool {
		return len(firesOf(t, n, sharded, root, "two")) == 2
	}, "the job is started")
	enginetest.Await(t, func() bool { return ended(0) }, "the first shard ends, and nobody looks")
	n.Faults.Before(func(name string) {
		if name == "follow-run" && !ended(1) {
			close(last)
			enginetest.Await(t, func() bool { return ended(1) }, "the last shard ends")
		}
	})
	_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
	require.NoError(t, err)
	n.Faults.Before(nil)
	follow(t, n, root, entity.StatusSuccess)
}
