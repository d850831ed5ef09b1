package running_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// costly is how a command ends that took something.
func costly(o entity.Outcome) entity.Outcome {
	o.Usage = entity.Usage{CPUMs: 1200, PeakKb: 35 << 10}
	return o
}

func usagesOf(t *testing.T, n *enginetest.Node, id string) map[int]entity.Usage {
	t.Helper()
	usages, err := n.Store.Executions.Usages(t.Context(), id)
	require.NoError(t, err)
	return usages
}

// The usage of an attempt is stored with its end, once, whatever becomes of the commit.
func TestUsageIsStoredWithItsEnd(t *testing.T) {
	for name, faults := range map[string][]enginetest.Fault{
		"no fault": nil, "the reply is lost": {enginetest.LostReply}, "the commit is lost": {enginetest.LostCommit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job, plain := n.Add(t, enginetest.Job("costly", retrying(1))), n.Add(t, enginetest.Job("plain", nil))
				n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
					if run.Job.ID == plain.ID {
						return entity.Succeeded("done")
					}
					return costly(failed())
				})
				for _, f := range faults {
					n.Faults.Next("complete", f)
				}
				id, other := startRun(t, n, job.ID).ID, startRun(t, n, plain.ID).ID
				eventually(t, n, "the run is over", func() bool {
					_, err := n.Repairs.PromoteScheduled(t.Context())
					return err == nil && n.Execution(t, id).Status == entity.StatusDead &&
						n.Execution(t, other).Status == entity.StatusSuccess
				})
				took := costly(failed()).Usage
				require.Equal(t, map[int]entity.Usage{1: took, 2: took}, usagesOf(t, n, id))
				require.Empty(t, usagesOf(t, n, other))
			})
		})
	}
}

// An end that came too late writes no usage, and keeps that of the others of its transaction (engine rule 19).
func TestALateReportWritesNoUsage(t *testing.T) {
	for name, o := range map[string]entity.Outcome{"success": costly(entity.Succeeded("x")), "retry": costly(failed())} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				var jobs []*entity.Job
				for _, name := range []string{"first", "good", "late"} {
					jobs = append(jobs, n.Add(t, enginetest.Job(name, retrying(1))))
				}
				execs := endTogether(t, n, o, func(execs []*entity.Execution) {
					changeRow(t, n, execs[2].ID, func(exec *entity.Execution) { exec.Token++ })
				}, jobs...)
				awaitIdle(t, n)
				for i, rows := range []int{1, 1, 0} {
					require.Len(t, usagesOf(t, n, execs[i].ID), rows)
				}
			})
		})
	}
}

// choosyRecords refuses the usages of some executions.
type choosyRecords struct {
	repository.RecordWriter
	refuse func(string) error
}

func (c choosyRecords) AddUsages(ctx context.Context, usages []entity.AttemptUsage) error {
	for _, u := range usages {
		if err := c.refuse(u.ExecutionID); err != nil {
			return err
		}
	}
	return c.RecordWriter.AddUsages(ctx, usages)
}

// A usage that the store refuses holds up no end: its own is stored without it (engine rule 10).
func TestAUsageThatTheStoreRefusesHoldsUpNoEnd(t *testing.T) {
	for name, err := range map[string]error{
		"for its values": &repository.PoisonError{Err: errBroken}, "otherwise": errBroken,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, store, _ := choosyNode(t)
				var jobs []*entity.Job
				for _, name := range []string{"first", "second", "bad", "fourth"} {
					jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
				}
				execs := endTogether(t, n, costly(entity.Succeeded("done")), func(execs []*entity.Execution) {
					store.mu.Lock()
					defer store.mu.Unlock()
					store.usages = only(execs[2].ID, err)
				}, jobs...)
				for i, rows := range []int{1, 1, 0, 1} {
					n.AwaitStatus(t, execs[i].ID, entity.StatusSuccess)
					require.Len(t, usagesOf(t, n, execs[i].ID), rows)
				}
			})
		})
	}
}
