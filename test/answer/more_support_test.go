package answer_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

func deskOf(t *testing.T, r *rig) *alertingtest.Desk {
	return &alertingtest.Desk{
		Node: r.Node, T: t, Book: aside.NewRecorder(r.Clock, nil, nil, slog.New(slog.DiscardHandler)),
	}
}

// levelsOf looks at nodes, of which one more is DOWN each time.
func levelsOf(t *testing.T, r *rig) loop {
	d := deskOf(t, r)
	d.State = &alerting.State{}
	d.Rule(alert.NodeDown, nil)
	leader := d.Leader(r.Store)
	return loop{
		happen: func(n int) {
			d.State.Nodes = append(d.State.Nodes, entity.Node{ID: fmt.Sprint("gone-", n), Status: entity.NodeDown})
		},
		turn: func(ctx context.Context) error {
			_, err := leader.Levels(ctx)
			return err
		},
		left: func() string {
			firing := map[string]int{}
			for _, a := range d.Alerts() {
				if a.Status == alert.Firing {
					firing[a.NodeID]++
				}
			}
			want := map[string]int{}
			for _, n := range d.State.Nodes {
				want[n.ID] = 1
			}
			return unlike("alerts of nodes", want, firing)
		},
	}
}

// deadlinesOf has deadlines of which each passes without a success. Each job asks for an alert of its own.
func deadlinesOf(t *testing.T, r *rig) loop {
	d := deskOf(t, r)
	leader, want := d.Leader(r.Store), map[string]int{}
	return loop{
		happen: func(n int) {
			job := d.Add(t, enginetest.Job(fmt.Sprint("late ", n), func(j *entity.Job) {
				j.Deadline = entity.JobDeadline{At: "13:00", TimeZone: "UTC", OnMiss: entity.MissAlert}
			}))
			want[job.ID] = 1
			now := r.Clock.Now().Truncate(time.Second)
			key := identity.FireKey(now)
			exec := &entity.Execution{
				ID: identity.ExecutionID(now, job.ID, key, 0), JobID: job.ID, FireKey: key, ScheduledTime: now, DueTime: now,
				Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusFailed,
				Attempt: 1, StartTime: now, EndTime: now, CreateTime: now, UpdateTime: now,
			}
			r.Write(t, func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Executions.Insert(ctx, []*entity.Execution{exec}); err != nil {
					return err
				}
				return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{{
					Moment: now.Add(time.Second), JobID: job.ID, FireKey: key, ScheduledTime: now,
				}})
			})
			r.Clock.Advance(10 * time.Second)
		},
		turn: func(ctx context.Context) error {
			_, err := leader.Deadlines(ctx)
			return err
		},
		left: func() string {
			got := map[string]int{}
			for _, a := range d.Alerts() {
				got[a.JobID] += a.Count
			}
			waiting, err := r.Store.Deadlines(t.Context(), always.From, always.To, 100)
			require.NoError(t, err)
			return cmp.Or(unlike("alerts about deadlines", want, got), unlike("deadlines that wait", 0, len(waiting)))
		},
	}
}

// broker takes all events.
type broker struct {
	mu    sync.Mutex
	taken []string
}

// Publish implements maintenance.Publisher.
func (b *broker) Publish(_ context.Context, events []entity.Event) (taken []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		taken = append(taken, e.ID)
	}
	b.taken = append(b.taken, taken...)
	return taken, nil
}

// relayOf has events of one key: the brokers take each at least once, and first in their order.
func relayOf(t *testing.T, r *rig) loop {
	b, want := &broker{}, []string(nil)
	relay := maintenance.NewRelay(maintenance.RelayDeps{
		Outbox: r.Store, Publisher: b, Clock: r.Clock, Leads: func() bool { return true }, Note: func(error) {},
	})
	return loop{
		happen: func(n int) {
			id := fmt.Sprintf("event-%04d", n)
			want = append(want, id)
			r.Write(t, func(ctx context.Context, tx repository.Tx) error {
				return tx.Records.AddEvents(ctx, []entity.Event{{
					ID: id, Topic: entity.TopicExecutions, Key: "one", Type: "t", Payload: "{}", CreateTime: r.Clock.Now(),
					Readers: entity.EventReaders{Kafka: true},
				}})
			})
		},
		turn: func(ctx context.Context) error { return both(relay.RunOnce(ctx)) },
		left: func() string {
			waiting, err := r.Store.PendingEvents(t.Context(), entity.ReaderKafka, 0, 100)
			require.NoError(t, err)
			b.mu.Lock()
			defer b.mu.Unlock()
			return cmp.Or(unlike("events", want, first(b.taken)), unlike("events that wait", 0, len(waiting)))
		},
	}
}

// backfillsOf repeats three seconds of the past of a job, two at once.
func backfillsOf(t *testing.T, r *rig) loop {
	m := backfill.New(backfill.Deps{
		Store: r.Store, Backfills: r.Store, Admitter: r.Admitter, Schedules: r.Schedules, Commits: r.Commits,
		Clock: r.Clock, StoreClock: r.Time,
	})
	var second entity.Job
	enginetest.Every(time.Second)(&second)
	second.Schedule.TimeZone = "UTC"
	var jobs []*entity.Job
	return loop{
		happen: func(n int) {
			job := r.Add(t, enginetest.Job(fmt.Sprint("again ", n), nil))
			jobs = append(jobs, job)
			to := enginetest.Noon.Add(-time.Hour)
			from := to.Add(-3 * time.Second)
			r.Write(t, func(ctx context.Context, tx repository.Tx) error {
				schedule := second.Schedule
				schedule.Anchor = from
				return tx.Backfills.Add(ctx, entity.Backfill{
					ID: identity.RandomID(r.Clock.Now()), JobID: job.ID, From: from, To: to, Cursor: from, Schedule: schedule,
					MaxParallel: 2, Status: entity.BackfillActive, Total: 3, Version: 1, CreateTime: r.Clock.Now(),
					UpdateTime: r.Clock.Now(),
				})
			})
			r.Clock.Advance(3 * time.Second) // it looks for new ones now and then
		},
		turn: m.RunOnce,
		left: func() string {
			for _, job := range jobs {
				all := r.Executions(t, job.ID)
				want := []string{"SUCCESS", "SUCCESS", "SUCCESS"}
				if wrong := unlike("runs of "+job.Name, want, enginetest.States(all)); wrong != "" {
					return wrong
				}
			}
			active, err := r.Store.ActiveBackfills(t.Context(), 100)
			require.NoError(t, err)
			return unlike("backfills that go on", 0, len(active))
		},
	}
}

// workflowsOf starts workflow runs of three steps.
func workflowsOf(t *testing.T, r *rig) loop {
	const steps = `{"steps": [
		{"name": "a", "custom": {"jobClass": "noop"}},
		{"name": "b", "custom": {"jobClass": "noop"}, "needs": ["a"]},
		{"name": "c", "custom": {"jobClass": "noop"}, "needs": ["a", "b"]}]}`
	job := r.Add(t, enginetest.Job("flow", func(j *entity.Job) {
		j.Type, j.Class, j.Data = entity.JobWorkflow, "", steps
	}))
	var ids []string
	return loop{
		happen: func(int) {
			root := r.Trigger(t, job.ID)[0].ID
			ids = append(ids, root)
			for _, step := range []string{"a", "b", "c"} {
				ids = append(ids, workflow.ExecutionID(root, workflow.StepID(job.ID, step), workflow.Key{
					Name: step, Item: workflow.Whole, Generation: 1,
				}))
			}
			for range 3 { // it opens
				r.turn(t, 100*time.Millisecond)
			}
		},
		turn: func(ctx context.Context) error {
			_, err := r.Flow.RunOnce(ctx, r.Time.Now())
			return err
		},
		left: func() string {
			rows, err := r.Store.Executions.ByIDs(t.Context(), ids)
			require.NoError(t, err)
			for _, row := range rows {
				if row.Status != entity.StatusSuccess || row.Attempt != 1 {
					return fmt.Sprintf("%s of %s is %s, attempt %d: %s", row.ID, row.JobID, row.Status, row.Attempt,
						row.ErrorMessage)
				}
			}
			return unlike("roots and steps", len(ids), len(rows))
		},
	}
}

// acceptedOf has calls that targets accept and never report about: their time limit ends them.
func acceptedOf(t *testing.T, r *rig) loop {
	r.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if _, err := run.Tokens.Issue(ctx, run); err != nil {
			return entity.Failed(entity.ReasonError, err.Error())
		}
		return entity.Accepted()
	})
	var jobs []*entity.Job
	return loop{
		happen: func(n int) {
			job := r.Add(t, enginetest.Job(fmt.Sprint("accepted ", n), func(j *entity.Job) {
				j.TimeoutSec, j.Overlap = 60, entity.OverlapDiscard
			}))
			jobs = append(jobs, job)
			run := r.Trigger(t, job.ID)[0].ID
			r.await(t, "its target accepts it", func() bool { return r.Execution(t, run).Detached() })
			r.Clock.Advance(2 * time.Minute)
		},
		turn: func(ctx context.Context) error {
			_, err := r.Detached.SweepDeadlines(ctx)
			return err
		},
		left: func() string {
			for _, job := range jobs {
				want := []string{"TIMEOUT(TIMEOUT)"}
				if wrong := unlike("runs of "+job.Name, want, enginetest.States(r.Executions(t, job.ID))); wrong != "" {
					return wrong
				}
				if held := r.InFlightFires(t, job.ID); len(held) > 0 {
					return job.Name + " holds a slot"
				}
			}
			return ""
		},
	}
}
