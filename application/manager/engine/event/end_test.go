package event_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ledger is an observer whose rows say which ends it was told of.
type ledger struct{}

const topicOfLedger = "ledger"

func (ledger) Ended(ended []*entity.Execution, now time.Time) (rows event.EndRows) {
	for _, e := range ended {
		rows.Events = append(rows.Events, entity.Event{ID: "ledger:" + e.ID, Topic: topicOfLedger, Type: string(e.Status), Payload: "{}", CreateTime: now})
	}
	return rows
}

// told are the ends in the ledger, by execution.
func told(t *testing.T, n *enginetest.Node) map[string]string {
	all := map[string]string{}
	for _, e := range n.Events(t) {
		if id, ok := strings.CutPrefix(e.ID, "ledger:"); ok {
			all[id] = e.Type
		}
	}
	return all
}

// Whatever ends an execution, the observers hear of it in the same transaction:
// what they return is stored beside the end.
func TestEveryEndPassesTheObservers(t *testing.T) {
	overlapping := func(p entity.OverlapPolicy) func(j *entity.Job) {
		return func(j *entity.Job) { j.Overlap = p }
	}
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		end    func(t *testing.T, n *enginetest.Node, job *entity.Job)
		want   []string
	}{
		"an attempt succeeds": {nil, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Start(t)
			n.Trigger(t, job.ID)
		}, []string{"SUCCESS"}},
		"an attempt fails": {nil, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
			n.Start(t)
			n.Trigger(t, job.ID)
		}, []string{"FAILED"}},
		"the last retry fails": {func(j *entity.Job) { j.Retry.MaxRetries = 1 }, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
			n.Start(t)
			id := n.Trigger(t, job.ID)[0].ID
			require.Eventually(t, func() bool { return n.Execution(t, id).RetryCount == 1 }, 20*time.Second, time.Millisecond)
			n.Clock.Advance(time.Hour)
			_, err := n.Repairs.PromoteScheduled(t.Context())
			require.NoError(t, err)
		}, []string{"DEAD"}},
		"a fire is discarded": {overlapping(entity.OverlapDiscard), func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Trigger(t, job.ID)
			n.Trigger(t, job.ID)
		}, []string{"SKIPPED", "WAITING"}},
		"a fire is replaced": {overlapping(entity.OverlapReplace), func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Trigger(t, job.ID)
			n.Trigger(t, job.ID)
		}, []string{"SKIPPED", "WAITING"}},
		"fires are missed": {enginetest.Every(time.Second), func(t *testing.T, n *enginetest.Node, _ *entity.Job) {
			n.FireAt(t, enginetest.Noon.Add(time.Hour))
		}, []string{"RUNNING", "SKIPPED"}},
		"a start deadline passes": {func(j *entity.Job) { j.StartDeadlineSec = 1 }, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Trigger(t, job.ID)
			n.Clock.Advance(time.Minute)
			_, err := n.Repairs.SweepDeadlines(t.Context())
			require.NoError(t, err)
		}, []string{"SKIPPED"}},
		"a waiting run is cancelled": {nil, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			execs := n.Trigger(t, job.ID)
			closer := maintenance.Closer{Store: n.Faults, Admitter: n.Admitter, Jobs: n.Jobs, Clock: n.Time}
			_, _, err := closer.CloseWaiting(t.Context(), repository.LaneAPI, execs,
				func(exec *entity.Execution, now time.Time) error { return exec.Cancel(entity.ReasonNone, now) },
				func(*entity.Execution, time.Time) bool { return true })
			require.NoError(t, err)
		}, []string{"CANCELLED"}},
		"the job is deleted": {nil, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			exec := n.Trigger(t, job.ID)[0]
			n.Write(t, func(ctx context.Context, tx repository.Tx) error {
				full, err := tx.Jobs.LockFull(ctx, job.ID)
				if err != nil {
					return err
				}
				return tx.Jobs.Update(ctx, full, true)
			})
			n.Write(t, func(ctx context.Context, tx repository.Tx) error {
				_, _, err := n.Admitter.CloseDeleted(ctx, tx, n.Time.Now(), job.ID, "", []string{exec.ID})
				return err
			})
		}, []string{"CANCELLED"}},
		"a schedule cannot be read": {enginetest.Every(time.Second), func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Change(t, job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Nowhere/At_All" })
			n.FireAt(t, enginetest.Noon.Add(time.Second))
		}, []string{"FAILED"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{Ends: []event.EndObserver{ledger{}}})
			job := n.Add(t, enginetest.Job("ends", c.change))
			c.end(t, n, job)
			var seen []string
			require.Eventually(t, func() bool {
				seen = nil
				for _, exec := range n.Executions(t, job.ID) {
					seen = append(seen, string(exec.Status))
				}
				slices.Sort(seen)
				return slices.Equal(c.want, slices.Compact(seen))
			}, 20*time.Second, time.Millisecond, "the states are %v", fmt.Sprint(c.want))
			ends := told(t, n)
			for _, exec := range n.Executions(t, job.ID) {
				want := ""
				if exec.Status.Final() {
					want = string(exec.Status)
				}
				require.Equal(t, want, ends[exec.ID], "the end of %s", exec.FireKey)
			}
		})
	}
}

// An observer that returns nothing costs no statement, as for a plain success.
func TestASuccessAddsNoEvent(t *testing.T) {
	rows := event.Outbox{}.Ended([]*entity.Execution{{ID: "a", Status: entity.StatusSuccess}, {ID: "b", Status: entity.StatusDead}}, noon)
	require.Equal(t, []entity.Event{event.Final(&entity.Execution{ID: "b", Status: entity.StatusDead}, noon)}, rows.Events)
	require.NoError(t, event.NewEnds(event.Outbox{}).Record(t.Context(), repository.Tx{}, noon, []*entity.Execution{{Status: entity.StatusSuccess}}))
}
