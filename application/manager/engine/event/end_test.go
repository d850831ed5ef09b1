package event_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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
		rows.Events = append(rows.Events, entity.Event{
			ID: "ledger:" + e.ID, Topic: topicOfLedger, Type: string(e.Status), Readers: entity.EventReaders{Rules: true},
			Payload: "{}", CreateTime: now,
		})
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

// limited is a job whose runs a target may accept.
func limited(j *entity.Job) { j.TimeoutSec = 60 }

// accepted triggers a run that its target accepts, and returns it with the token
// of its attempt.
func accepted(t *testing.T, n *enginetest.Node, job *entity.Job) (exec *entity.Execution, token string) {
	t.Helper()
	tokens := make(chan string, 10)
	n.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		token, err := run.Tokens.Issue(ctx, run)
		if err != nil {
			return entity.Failed(entity.ReasonError, err.Error())
		}
		tokens <- token
		return entity.Accepted()
	})
	n.Start(t)
	id := n.Trigger(t, job.ID)[0].ID
	enginetest.Await(t, func() bool { return n.Execution(t, id).Detached() }, "it is detached")
	return n.Execution(t, id), <-tokens
}

// lost makes a waiting run one that a former life of a node held.
func lost(t *testing.T, n *enginetest.Node, id, node string, epoch int64) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		exec := execs[0]
		exec.Status, exec.NodeID, exec.Epoch, exec.Claim = entity.StatusRunning, node, epoch, entity.RunningKey(node)
		exec.Attempt, exec.Token, exec.StartTime = 1, 1, enginetest.Noon
		return tx.Executions.Update(ctx, exec, entity.StatusWaiting, 0)
	})
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
		"the last retry fails": {func(j *entity.Job) {
			j.Retry.MaxRetries = 1
		}, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
			n.Start(t)
			id := n.Trigger(t, job.ID)[0].ID
			enginetest.Await(t, func() bool { return n.Execution(t, id).RetryCount == 1 }, "it is to be repeated")
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
		"a start deadline passes": {func(j *entity.Job) {
			j.StartDeadlineSec = 1
		}, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
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
		"a target reports the end of a detached run": {limited, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			exec, token := accepted(t, n, job)
			report := entity.RunReport{Progress: -1, Status: entity.StatusFailed}
			require.NoError(t, n.Detached.Report(t.Context(), exec.ID, token, report))
		}, []string{"FAILED"}},
		"nobody reports in time about a detached run": {limited, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			accepted(t, n, job)
			n.Clock.Advance(time.Hour)
			_, err := n.Detached.SweepDeadlines(t.Context())
			require.NoError(t, err)
		}, []string{"TIMEOUT"}},
		"a detached run is cancelled": {limited, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			exec, _ := accepted(t, n, job)
			done, err := n.Detached.Cancel(t.Context(), exec)
			require.NoError(t, err)
			require.True(t, done)
		}, []string{"CANCELLED"}},
		"a detached run is replaced": {func(j *entity.Job) {
			limited(j)
			j.Overlap = entity.OverlapReplace
		}, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			accepted(t, n, job)
			n.Trigger(t, job.ID)
		}, []string{"CANCELLED", "RUNNING"}},
		"a node dies with its run": {func(j *entity.Job) {
			j.OnNodeLoss = entity.NodeLossFail
		}, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			lost(t, n, n.Trigger(t, job.ID)[0].ID, "node-2", 3)
			n.Start(t)
			_, err := n.Runner.Reap(t.Context(), "node-2", 3)
			require.NoError(t, err)
		}, []string{"FAILED"}},
		"a node comes back without its run": {func(j *entity.Job) {
			j.OnNodeLoss = entity.NodeLossFail
		}, func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			lost(t, n, n.Trigger(t, job.ID)[0].ID, n.ID(), 0)
			n.Start(t)
			require.NoError(t, n.Runner.Reconcile(t.Context()))
		}, []string{"FAILED"}},
		"a schedule cannot be read": {enginetest.Every(time.Second), func(t *testing.T, n *enginetest.Node, job *entity.Job) {
			n.Change(t, job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Nowhere/At_All" })
			n.FireAt(t, enginetest.Noon.Add(time.Second))
		}, []string{"FAILED"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{Ends: []event.EndObserver{ledger{}}})
				job := n.Add(t, enginetest.Job("ends", c.change))
				c.end(t, n, job)
				var seen []string
				enginetest.Await(t, func() bool {
					seen = nil
					for _, exec := range n.Executions(t, job.ID) {
						seen = append(seen, string(exec.Status))
					}
					slices.Sort(seen)
					return slices.Equal(c.want, slices.Compact(seen))
				}, "the states are %v, not %v", &seen, c.want)
				ends := told(t, n)
				for _, exec := range n.Executions(t, job.ID) {
					want := ""
					if exec.Status.Final() {
						want = string(exec.Status)
					}
					require.Equal(t, want, ends[exec.ID], "the end of %s", exec.FireKey)
				}
			})
		})
	}
}

// An observer that returns nothing costs no statement, as for a plain success.
func TestASuccessAddsNoEvent(t *testing.T) {
	ended := []*entity.Execution{{ID: "a", Status: entity.StatusSuccess}, {ID: "b", Status: entity.StatusDead}}
	outbox := event.Outbox{Readers: entity.EventReaders{Kafka: true}}
	want := event.Final(ended[1], nil, noon)
	want.Readers.Kafka = true
	require.Equal(t, []entity.Event{want}, outbox.Ended(ended, noon).Events)
	require.Empty(t, event.Outbox{}.Ended(ended, noon).Events, "nobody reads")
	require.NoError(t, event.NewEnds(outbox).Record(t.Context(), repository.Tx{}, noon, ended[:1]))
}
