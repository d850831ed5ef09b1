package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// rig is a node whose ends owe, and a follower that looks when the test says.
type rig struct {
	*enginetest.Node
	*workflow.Follower
	t *testing.T
}

func newRig(t *testing.T, store *persistence.Store, o enginetest.Options) *rig {
	r := &rig{t: t}
	o.Ends = append(o.Ends, workflow.Owed{
		Cached: func(id string, version int) *entity.Job { return r.Jobs.Cached(id, version) },
	})
	if store == nil {
		r.Node = enginetest.New(t, o)
	} else {
		r.Node = enginetest.On(t, store, o)
	}
	r.Follower = workflow.New(workflow.Deps{
		Store: r.Faults, Todos: r.Store, Executions: r.Store.Executions, Jobs: r.Jobs, Versions: r.Store.Jobs,
		Admitter: r.Admitter, Commits: r.Commits, Clock: r.Clock, StoreClock: r.Time, Leads: func() bool { return true },
		Note: func(error) {}, Logger: slog.New(slog.DiscardHandler),
	})
	return r
}

// add makes a job without a schedule.
func (r *rig) add(name string, change func(j *entity.Job)) *entity.Job {
	return r.Add(r.t, enginetest.Job(name, func(j *entity.Job) {
		if change != nil {
			change(j)
		}
	}))
}

// then makes a job that starts others.
func then(next ...entity.Next) func(j *entity.Job) { return func(j *entity.Job) { j.Next = next } }

func on(job *entity.Job, on entity.NextOn) entity.Next { return entity.Next{Job: job.ID, On: on} }

// end ends the runs of a waiting fire, as a node would.
func (r *rig) end(status entity.Status, result string, ids ...string) {
	r.t.Helper()
	r.Write(r.t, func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, slices.Sorted(slices.Values(ids)))
		if err != nil {
			return err
		}
		for _, e := range execs {
			e.Status, e.Claim, e.Result, e.EndTime, e.UpdateTime = status, "", result, r.Time.Now(), r.Time.Now()
			if err := tx.Executions.Update(ctx, e, entity.StatusWaiting, e.Token); err != nil {
				return err
			}
		}
		return r.Admitter.RecordEnds(ctx, tx, r.Time.Now(), execs)
	})
}

// follow lets the follower look, and returns what it has started of a job.
func (r *rig) follow(job *entity.Job) []*entity.Execution {
	r.t.Helper()
	_, err := r.RunOnce(r.t.Context(), r.Time.Now())
	require.NoError(r.t, err)
	return r.Executions(r.t, job.ID)
}

func (r *rig) owed() int {
	r.t.Helper()
	todos, err := r.Store.Todos(r.t.Context(), entity.TodoNext, r.Time.Now().Add(time.Hour), 1000)
	require.NoError(r.t, err)
	return len(todos)
}

// Each end starts those that follow it, with the time of the fire that ended, and the store owes nothing afterwards.
func TestAnEndStartsTheJobsThatFollowIt(t *testing.T) {
	for status, want := range map[entity.Status][]int{
		entity.StatusSuccess:   {1, 0, 1},
		entity.StatusFailed:    {0, 1, 1},
		entity.StatusTimeout:   {0, 1, 1},
		entity.StatusDead:      {0, 1, 1},
		entity.StatusCancelled: {0, 0, 1},
		entity.StatusSkipped:   {0, 0, 0},
	} {
		t.Run(string(status), func(t *testing.T) {
			r := newRig(t, nil, enginetest.Options{})
			success, failure, end := r.add("success", nil), r.add("failure", nil), r.add("end", nil)
			first := r.add("first", then(
				on(success, entity.NextOnSuccess), on(failure, entity.NextOnFailure), on(end, entity.NextOnEnd)))
			run := r.Execution(t, r.Trigger(t, first.ID)[0].ID)
			r.Clock.Advance(90 * time.Second)
			r.end(status, "", run.ID)
			require.Equal(t, want, []int{len(r.follow(success)), len(r.follow(failure)), len(r.follow(end))})
			require.Zero(t, r.owed())
			for _, e := range r.Executions(t, end.ID) {
				require.Equal(t, entity.TriggerDependency, e.Trigger)
				require.Equal(t, run.ScheduledTime.UTC(), e.ScheduledTime.UTC(), "the scheduled time is that of the chain")
				require.Equal(t, r.Execution(t, run.ID).EndTime.UTC(), e.DueTime.UTC(), "it is late from the end on")
				require.Equal(t, entity.StatusWaiting, e.Status)
			}
		})
	}
}

// A job without Next costs no row, and none that its node does not hold in memory goes unseen.
func TestOnlyJobsThatMayOweAddRows(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	last := r.add("last", nil)
	first := r.add("first", then(on(last, entity.NextOnFailure)))
	r.Jobs.Keep(last)
	r.Jobs.Keep(first)
	r.end(entity.StatusSuccess, "", r.Trigger(t, last.ID)[0].ID, r.Trigger(t, first.ID)[0].ID)
	require.Zero(t, r.owed(), "no next, and none for this end")
	r.end(entity.StatusFailed, "", r.Trigger(t, first.ID)[0].ID)
	require.Equal(t, 1, r.owed())
}

// A node that fires more jobs than it keeps in memory pays no more for their ends: a run has its definition with it.
func TestEndsOfJobsThatMemoryHasDroppedAddNoRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, enginetest.Options{})
		release := r.Script.Hold()
		r.Start(t)
		plain, last := r.add("plain", nil), r.add("last", nil)
		first := r.add("first", then(on(last, entity.NextOnSuccess)))
		runs := []*entity.Execution{r.Trigger(t, plain.ID)[0], r.Trigger(t, first.ID)[0]}
		for _, run := range runs {
			r.AwaitStatus(t, run.ID, entity.StatusRunning)
		}
		for i := range 2000 {
			r.Jobs.Keep(&entity.Job{ID: fmt.Sprintf("%036d", i), Version: 1})
		}
		require.Nil(t, r.Jobs.Cached(plain.ID, plain.Version))
		release()
		for _, run := range runs {
			r.AwaitStatus(t, run.ID, entity.StatusSuccess)
		}
		require.Equal(t, 1, r.owed(), "that of the job with next")
		require.Len(t, r.follow(last), 1)
	})
}

// The shards of a fire are one outcome, whichever ends last, and start the jobs that follow once.
func TestAShardedFireStartsWhatFollowsOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := newRig(t, dbtest.Open(t, cfg), enginetest.Options{})
		good, bad := r.add("good", nil), r.add("bad", nil)
		first := r.add("first", func(j *entity.Job) {
			j.ShardCount, j.Next = 3, []entity.Next{on(good, entity.NextOnSuccess), on(bad, entity.NextOnFailure)}
		})
		runs := r.Trigger(t, first.ID)
		r.end(entity.StatusSuccess, "", runs[1].ID)
		require.Empty(t, r.follow(good), "two shards go on")
		r.Clock.Advance(time.Second)
		r.end(entity.StatusSuccess, "", runs[0].ID)
		require.Empty(t, r.follow(good))
		r.Clock.Advance(time.Second)
		r.end(entity.StatusFailed, "", runs[2].ID)
		require.Len(t, r.follow(bad), 1)
		require.Empty(t, r.Executions(t, good.ID))
		require.Zero(t, r.owed())
		again := r.Trigger(t, first.ID)
		r.end(entity.StatusSuccess, "", again[0].ID, again[1].ID, again[2].ID)
		require.Len(t, r.follow(good), 1)
	})
}

// A job is started once and what is owed is paid, whatever the store answers, and however many look at once.
func TestWhatFollowsIsStartedOnceThroughFaults(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		store := dbtest.Open(t, cfg)
		for name, faults := range map[string][]enginetest.Fault{
			"none": nil, "the answer is lost": {enginetest.LostReply}, "the commit is lost": {enginetest.LostCommit},
			"away": {enginetest.Refused, enginetest.Refused}, "a deadlock": {enginetest.Deadlock},
		} {
			r := newRig(t, store, enginetest.Options{})
			last := r.add("last of "+name, func(j *entity.Job) { j.Overlap, j.ShardCount = entity.OverlapSerial, 2 })
			first := r.add("first of "+name, then(on(last, entity.NextOnSuccess)))
			r.end(entity.StatusSuccess, "", r.Trigger(t, first.ID)[0].ID)
			r.Faults.Next("follow", faults...)
			for range len(faults) + 1 {
				_, _ = r.RunOnce(t.Context(), r.Time.Now()) // a fault is an error here
			}
			require.Len(t, r.follow(last), 2, name)
			require.Len(t, r.InFlightFires(t, last.ID), 1, name)
			require.Zero(t, r.owed(), name)
		}
	})
}

// Of a follower that saw the rows before another one paid, the second look starts nothing.
func TestTwoFollowersStartAJobOnce(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	last := r.add("last", nil)
	first := r.add("first", then(on(last, entity.NextOnEnd)))
	other := newRig(t, r.Store, enginetest.Options{NodeID: "node-2", Clock: r.Clock})
	r.end(entity.StatusSuccess, "", r.Trigger(t, first.ID)[0].ID)
	once := false
	r.Faults.Before(func(name string) {
		if name == "follow" && !once {
			once = true
			require.Len(t, other.follow(last), 1)
		}
	})
	require.Len(t, r.follow(last), 1)
	require.True(t, once)
	require.Zero(t, r.owed())
}

// A fire that cannot run is recorded with its reason, and holds up no other.
func TestWhatCannotFollowIsRecorded(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	sound, asking := r.add("sound", nil), r.add("asking", nil)
	paused := r.add("paused", nil)
	r.Change(t, paused.ID, func(j *entity.Job) { j.Status, j.PausedAt = entity.JobPaused, enginetest.Noon })
	typed := r.add("typed", func(j *entity.Job) {
		j.Parameters = []entity.JobParameter{{Name: "n", Type: entity.ParameterInteger, Required: true}}
	})
	deleted := r.add("deleted", nil)
	first := r.add("first", then(
		on(paused, entity.NextOnEnd), on(typed, entity.NextOnEnd), on(deleted, entity.NextOnEnd),
		entity.Next{Job: asking.ID, On: entity.NextOnEnd, Params: json.RawMessage(`{"v": "${result.missing}"}`)},
		on(sound, entity.NextOnSuccess)))
	r.Write(t, func(ctx context.Context, tx repository.Tx) error {
		job, err := tx.Jobs.LockFull(ctx, deleted.ID)
		if err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, job, true)
	})
	r.end(entity.StatusSuccess, `{"there": 1}`, r.Trigger(t, first.ID)[0].ID)
	r.follow(sound)
	require.Zero(t, r.owed())
	for job, want := range map[*entity.Job]string{
		paused: "SKIPPED(PAUSED)", typed: "FAILED(INVALID)", deleted: "FAILED(DELETED)", asking: "FAILED(INVALID)",
		sound: "WAITING()",
	} {
		rows := r.Executions(t, job.ID)
		require.Len(t, rows, 1, job.Name)
		require.Equal(t, want, string(rows[0].Status)+"("+string(rows[0].Reason)+")", job.Name)
	}
	require.Contains(t, r.Executions(t, typed.ID)[0].ErrorMessage, "n")
	require.Contains(t, r.Executions(t, asking.ID)[0].ErrorMessage, "missing")
}

// A fire that the store refuses is recorded as failed, and the others of its turn run.
func TestAFireThatTheStoreRefusesHoldsUpNoOther(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	poison, sound := r.add("poison", nil), r.add("sound", nil)
	first := r.add("first", then(on(poison, entity.NextOnSuccess), on(sound, entity.NextOnSuccess)))
	var poisoned []string
	for range 3 {
		id := r.Trigger(t, first.ID)[0].ID
		r.end(entity.StatusSuccess, "", id)
		end, over := chain.EndOf(first, []*entity.Execution{r.Execution(t, id)})
		require.True(t, over)
		poisoned = append(poisoned, chain.ID(end, poison.ID))
	}
	r.Faults.Poison(func(id string) bool { return slices.Contains(poisoned, id) })
	require.Len(t, r.follow(sound), 3)
	require.Zero(t, r.owed())
	require.Len(t, r.Executions(t, poison.ID), 3)
	for _, e := range r.Executions(t, poison.ID) {
		require.Equal(t, entity.ReasonInvalid, e.Reason)
	}
}

// An edit of the jobs that follow holds for fires that are recorded after it.
func TestTheDefinitionOfTheFireCounts(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	before, after := r.add("before", nil), r.add("after", nil)
	first := r.add("first", then(on(before, entity.NextOnEnd)))
	run := r.Trigger(t, first.ID)[0]
	r.Change(t, first.ID, func(j *entity.Job) { j.Next, j.Version = []entity.Next{on(after, entity.NextOnEnd)}, 2 })
	later := r.Trigger(t, first.ID)[0]
	require.Equal(t, []int{1, 2}, []int{run.JobVersion, later.JobVersion})
	r.end(entity.StatusSuccess, "", run.ID)
	require.Len(t, r.follow(before), 1)
	r.end(entity.StatusSuccess, "", later.ID)
	require.Len(t, r.follow(after), 1)
	require.Len(t, r.Executions(t, before.ID), 1)
}

// Jobs that start one another in a circle end at the bound.
func TestACircleEnds(t *testing.T) {
	r := newRig(t, nil, enginetest.Options{})
	job := r.add("self", nil)
	r.Change(t, job.ID, func(j *entity.Job) { j.Next, j.Version = []entity.Next{on(job, entity.NextOnSuccess)}, 2 })
	id := r.Trigger(t, job.ID)[0].ID
	for range entity.MaxChainDepth + 5 {
		e := r.Execution(t, id)
		if e.Status.Final() {
			break
		}
		r.Clock.Advance(time.Second)
		r.end(entity.StatusSuccess, "", id)
		rows := r.follow(job)
		newest := slices.MaxFunc(rows, func(a, b *entity.Execution) int { return a.CreateTime.Compare(b.CreateTime) })
		id = newest.ID
	}
	rows := r.Executions(t, job.ID)
	require.Len(t, rows, entity.MaxChainDepth+2)
	failed := r.Execution(t, id)
	require.Equal(t, entity.ReasonInvalid, failed.Reason)
	require.Contains(t, failed.ErrorMessage, "circle")
	require.Zero(t, r.owed())
}

var _ event.EndObserver = workflow.Owed{}
