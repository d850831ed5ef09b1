package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Between an end and the start that it owes, the job that follows may become another one: the start is that of the
// job as it is then, and each end has one line in the ledger.
func TestAJobThatFollowsChangesWhileItIsOwed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *rig, job *entity.Job)
		status entity.Status
		reason entity.Reason
		rows   int
	}{
		"renamed": {func(r *rig, job *entity.Job) {
			r.Change(r.t, job.ID, func(j *entity.Job) { j.Name, j.Version = "another", 2 })
		}, entity.StatusWaiting, "", 1},
		"sharded": {func(r *rig, job *entity.Job) {
			r.Change(r.t, job.ID, func(j *entity.Job) { j.ShardCount, j.Version = 3, 2 })
		}, entity.StatusWaiting, "", 3},
		"paused": {func(r *rig, job *entity.Job) {
			r.Change(r.t, job.ID, func(j *entity.Job) { j.Status, j.PausedAt, j.Version = entity.JobPaused, r.Time.Now(), 2 })
		}, entity.StatusSkipped, entity.ReasonPaused, 1},
		"asking": {func(r *rig, job *entity.Job) {
			r.Change(r.t, job.ID, func(j *entity.Job) {
				j.Version = 2
				j.Parameters = []entity.JobParameter{{Name: "n", Type: entity.ParameterInteger, Required: true}}
			})
		}, entity.StatusFailed, entity.ReasonInvalid, 1},
		"deleted": {func(r *rig, job *entity.Job) {
			r.Write(r.t, func(ctx context.Context, tx repository.Tx) error {
				old, err := tx.Jobs.LockFull(ctx, job.ID)
				if err != nil {
					return err
				}
				return tx.Jobs.Update(ctx, old, true)
			})
		}, entity.StatusFailed, entity.ReasonDeleted, 1},
		"at its limit": {func(r *rig, job *entity.Job) {
			r.Change(r.t, job.ID, func(j *entity.Job) { j.Overlap, j.Version = entity.OverlapDiscard, 2 })
			r.Trigger(r.t, job.ID)
		}, entity.StatusSkipped, entity.ReasonOverlap, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, enginetest.Options{})
			last := r.add("last", nil)
			first := r.add("first", then(on(last, entity.NextOnSuccess)))
			r.Jobs.Keep(last) // as if it were known from before
			r.end(entity.StatusSuccess, "", r.Trigger(t, first.ID)[0].ID)
			require.Equal(t, 1, r.owed())
			c.change(r, last)
			r.Clock.Advance(time.Second)
			var chained []*entity.Execution
			for range 2 { // a second look starts nothing more
				chained = nil
				for _, e := range r.follow(last) {
					if e.Trigger == entity.TriggerDependency {
						chained = append(chained, e)
					}
				}
			}
			require.Len(t, chained, c.rows)
			for _, e := range chained {
				require.Equal(t, string(c.status)+" "+string(c.reason), string(e.Status)+" "+string(e.Reason), e.ErrorMessage)
			}
			require.Zero(t, r.owed())
		})
	}
}
