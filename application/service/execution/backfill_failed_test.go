package execution_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// failing asks for a range of seconds after noon, with what failed in it.
func (d *desk) failing(id string, from, to, parallel int) entity.Backfill {
	d.T.Helper()
	span := d.span(from, to, parallel)
	span.IncludeFailed = true
	b, err := d.Backfills.Start(d.T.Context(), id, span)
	require.NoError(d.T, err)
	return b
}

// again are the retries of a job that a backfill made, by scheduled time.
func (d *desk) again(id string, b entity.Backfill) (out []*entity.Execution) {
	d.T.Helper()
	for _, row := range d.Rows(id) {
		if row.FireKey == identity.RepeatKey(row.ScheduledTime, b.ID) {
			out = append(out, row)
		}
	}
	return out
}

// retry repeats a run by hand, and ends what it makes in a status, unless that is empty.
func (d *desk) retry(id string, status entity.Status) string {
	d.T.Helper()
	made, err := d.Executions.Retry(d.T.Context(), id, entity.Actor{User: "bob"})
	require.NoError(d.T, err)
	if status != "" {
		d.Finish(made, status, entity.ReasonError)
	}
	return made
}

// A time whose fire failed runs again where it was not made good, each once.
func TestABackfillRunsAgainWhatFailed(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(everyTenSeconds(nil))
		states := []entity.Status{
			entity.StatusFailed, entity.StatusDead, entity.StatusTimeout, entity.StatusCancelled, entity.StatusSuccess,
			entity.StatusFailed, entity.StatusFailed, entity.StatusFailed, entity.StatusSkipped,
		}
		for range states {
			d.After(10 * time.Second)
		}
		d.Clock.Advance(time.Second)
		rows := d.Rows(job.ID)
		require.Len(d.T, rows, len(states))
		for i, status := range states {
			d.Finish(rows[i].ID, status, entity.ReasonError)
		}
		d.retry(rows[5].ID, entity.StatusFailed)
		d.retry(d.retry(rows[6].ID, entity.StatusFailed), entity.StatusSuccess)
		d.retry(rows[7].ID, "")

		plan, err := d.Backfills.Plan(d.T.Context(), job.ID, d.span(5, 91, 9))
		require.NoError(d.T, err)
		require.Equal(d.T, []any{1, 8, 0}, []any{len(plan.Times), plan.AlreadyRun, len(plan.Failed)}, "nobody asked for them")
		ask := d.span(5, 91, 9)
		ask.IncludeFailed = true
		plan, err = d.Backfills.Plan(d.T.Context(), job.ID, ask)
		require.NoError(d.T, err)
		failed := []time.Time{noon(10 * time.Second), noon(20 * time.Second), noon(30 * time.Second), noon(60 * time.Second)}
		require.Equal(d.T, failed, plan.Failed)
		require.Equal(d.T, append(failed, noon(90*time.Second)), plan.Times)
		require.Equal(d.T, []int{9, 4}, []int{plan.Total, plan.AlreadyRun})

		b := d.failing(job.ID, 5, 91, 9)
		again := d.again(job.ID, b)
		require.Equal(d.T, []int{10, 20, 30, 60}, seconds(again))
		require.Equal(d.T, []int{90}, seconds(d.filled(job.ID)))
		require.Equal(d.T, []any{entity.TriggerRetry, rows[0].ID, rows[0].ID, "ann"},
			[]any{again[0].Trigger, again[0].RetryOf, again[0].RootID, again[0].TriggeredBy.User})
		d.look()
		require.Equal(d.T, entity.BackfillActive, d.backfill(b.ID).Status, "its runs are not over")
		other := d.failing(job.ID, 5, 91, 9)
		require.Empty(d.T, d.again(job.ID, other), "what runs again is about to be made good")

		for i, row := range append(again, d.filled(job.ID)...) {
			d.Finish(row.ID, []entity.Status{entity.StatusSuccess, entity.StatusFailed}[i%2], entity.ReasonError)
		}
		d.look()
		b = d.backfill(b.ID)
		require.Equal(d.T, []any{entity.BackfillDone, 9, 4, 5, true},
			[]any{b.Status, b.Total, b.AlreadyRun, b.Started, b.IncludeFailed})
		require.Len(d.T, d.again(job.ID, b), 4, "each once, whatever became of it")

		third := d.failing(job.ID, 5, 91, 9)
		require.Equal(d.T, []int{20, 60}, seconds(d.again(job.ID, third)), "another backfill repeats what failed again")
		entries, _ := ledger(d.T, d, entity.LedgerQuery{JobID: job.ID, To: noon(95 * time.Second)})
		require.Len(d.T, entries, 10, "what is repeated is no entry of its own")
		require.Contains(d.T, entries[len(entries)-1].Replays, again[0].ID)
	})
}

// A time that a backfill ran, and whose run failed, is repeated as well.
func TestABackfillRunsAgainWhatABackfillRan(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(nil))
	d.fill(job.ID, -20, 0, 2)
	first := d.filled(job.ID)
	d.Finish(first[0].ID, entity.StatusFailed, entity.ReasonError)
	d.Finish(first[1].ID, entity.StatusSuccess, entity.ReasonNone)
	again := d.again(job.ID, d.failing(job.ID, -20, 0, 2))
	require.Equal(t, []int{-20}, seconds(again))
	require.Equal(t, first[0].ID, again[0].RetryOf)
}

// Of a fire of several shards those run again that failed, as one fire, once all are over.
func TestABackfillRunsAgainTheShardsThatFailed(t *testing.T) {
	d := newDesk(t)
	job := d.Create(everyTenSeconds(func(j *entity.Job) { j.ShardCount, j.MaxConcurrency = 4, 2 }))
	d.After(10 * time.Second)
	d.Clock.Advance(time.Second)
	shards := map[int]string{}
	for _, row := range d.Rows(job.ID) {
		shards[row.ShardIndex] = row.ID
	}
	d.Finish(shards[1], entity.StatusFailed, entity.ReasonError)
	d.Finish(shards[3], entity.StatusDead, entity.ReasonError)
	d.Finish(shards[0], entity.StatusSuccess, entity.ReasonNone)
	b := d.failing(job.ID, 10, 11, 1)
	require.Empty(t, d.again(job.ID, b), "the fire is not over")
	require.Equal(t, entity.BackfillDone, d.drive(b).Status)

	d.Cancel(shards[2])
	b = d.failing(job.ID, 10, 11, 1)
	again := d.again(job.ID, b)
	require.Len(t, again, 2, "both take the one slot that is free")
	for _, row := range again {
		require.Contains(t, []int{1, 3}, row.ShardIndex)
		require.Equal(t, []any{4, shards[row.ShardIndex], false}, []any{row.ShardTotal, row.RetryOf, row.Claim.Queued()})
	}
	for _, row := range again {
		require.Equal(t, entity.BackfillActive, d.backfill(b.ID).Status)
		d.Cancel(row.ID)
		d.look()
	}
	require.Equal(t, entity.BackfillDone, d.backfill(b.ID).Status)
	require.Len(t, d.again(job.ID, d.failing(job.ID, 10, 11, 1)), 2, "who cancels a retry does not make it good")
}

// A failed part of a broadcast is repeated on its node, if the node is there.
func TestABackfillRepeatsABroadcastOnItsNodes(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{})
	job := d.Create(enginetest.Job("all", func(j *entity.Job) {
		enginetest.Every(10 * time.Second)(j)
		j.Broadcast = true
	}))
	d.After(10 * time.Second)
	d.Clock.Advance(time.Second)
	nodes := map[string]string{}
	for _, row := range d.Rows(job.ID) {
		nodes[row.ID] = row.NodeID
		d.Finish(row.ID, entity.StatusFailed, entity.ReasonError)
	}
	require.Len(t, nodes, 2)
	again := d.again(job.ID, d.failing(job.ID, 10, 11, 1))
	require.Len(t, again, 2)
	for _, row := range again {
		require.Equal(t, nodes[row.RetryOf], row.NodeID)
		d.Finish(row.ID, entity.StatusFailed, entity.ReasonError)
	}
	require.NoError(t, d.Store.Leave(t.Context(), "node-2", 1))
	again = d.again(job.ID, d.failing(job.ID, 10, 11, 1))
	require.Len(t, again, 1)
	require.NotEqual(t, "node-2", again[0].NodeID)
}

// The repeated runs and the progress past them are one commit.
func TestACrashRepeatsNothingTwice(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"lost commit": enginetest.LostCommit, "lost reply": enginetest.LostReply, "refused": enginetest.Refused,
		"deadlock": enginetest.Deadlock,
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				job := d.Create(everyTenSeconds(nil))
				for range 3 {
					d.After(10 * time.Second)
				}
				d.Clock.Advance(time.Second)
				for _, row := range d.Rows(job.ID) {
					d.Finish(row.ID, entity.StatusFailed, entity.ReasonError)
				}
				d.Faults.Next("backfill", fault)
				b := d.failing(job.ID, 10, 31, 2)
				for range 8 {
					d.look()
					for _, row := range d.again(job.ID, b) {
						if !row.Status.Final() {
							d.Finish(row.ID, entity.StatusFailed, entity.ReasonError)
						}
					}
				}
				require.Equal(d.T, []int{10, 20, 30}, seconds(d.again(job.ID, b)))
				b = d.backfill(b.ID)
				require.Equal(d.T, []any{entity.BackfillDone, 3, 0}, []any{b.Status, b.Started, b.AlreadyRun})
			})
		})
	}
}
