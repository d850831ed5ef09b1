package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// transactions counts the transactions of a store by name, and the statements
// of the greatest of each name.
type transactions struct {
	mu         sync.Mutex
	count      map[string]int
	statements int
	most       map[string]int
}

func (c *transactions) observe(statement string, _ time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, ended := statement, false
	if len(statement) > 3 && statement[:3] == "tx." {
		name, ended = statement[3:], true
	}
	if !ended {
		c.statements++
		return
	}
	c.count[name]++
	c.most[name] = max(c.most[name], c.statements)
	c.statements = 0
}

// counted runs a test on every store and counts its transactions.
func counted(t *testing.T, test func(d *desk, c *transactions)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		c := &transactions{count: map[string]int{}, most: map[string]int{}}
		cfg.Observe = c.observe
		test(&desk{servicetest.On(t, enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{}))}, c)
	})
}

// stepStatements bounds the statements of one step: a few for all runs together,
// or for each of them where a statement is no trip.
func stepStatements(d *desk) int {
	if d.Store.Info().Driver == "sqlite" {
		return 4 * admission.CloseLimit
	}
	return 12
}

// serial is a job with a long queue.
func (d *desk) serial(name string, change func(j *entity.Job)) *entity.Job {
	d.T.Helper()
	return d.Create(enginetest.Job(name, func(j *entity.Job) {
		j.Overlap, j.MaxQueued = entity.OverlapSerial, 100_000
		if change != nil {
			change(j)
		}
	}))
}

// waits counts the runs of a job that are in its queue.
func (d *desk) waits(jobID string) int {
	d.T.Helper()
	lo, hi := entity.QueuedRange(jobID)
	n, err := d.Store.CountRange(d.T.Context(), repository.ClaimRange{Lo: lo, Hi: hi, Limit: 10_000})
	require.NoError(d.T, err)
	return n
}

// sweep looks after the places once.
func (d *desk) sweep() {
	d.T.Helper()
	_, err := d.Repairs.SweepSlots(d.T.Context())
	require.NoError(d.T, err)
}

// Whatever the clock of the machine says: only the store's time counts for what
// is triggered (engine rule 2).
func TestTriggersOfANodeWhoseClockIsOff(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, 0, time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The manual clock stands for the store's.
				d := &desk{servicetest.On(t,
					enginetest.New(t, enginetest.Options{Clock: clocktest.NewManual(time.Now().Add(skew))}))}
				d.Start(t)
				release := d.Script.Hold()
				job := d.serial("serial", nil)
				first, second := d.Trigger(job.ID)[0], d.Trigger(job.ID)[0]
				d.AwaitStatus(t, first, entity.StatusRunning)
				release()
				d.AwaitStatus(t, first, entity.StatusSuccess)
				d.AwaitStatus(t, second, entity.StatusSuccess)
				require.Empty(t, d.InFlightFires(t, job.ID))
				page, _, err := d.Executions.List(t.Context(),
					repository.ExecutionFilter{JobID: job.ID, From: d.Clock.Now().Add(-time.Minute)}, repository.Page{Limit: 10})
				require.NoError(t, err)
				require.Len(t, page, 2, "lists by time find them, too")

				replacing := d.Create(enginetest.Job("replace", waiting(func(j *entity.Job) { j.Overlap = entity.OverlapReplace })))
				former := d.Trigger(replacing.ID)[0]
				d.Trigger(replacing.ID)
				require.Equal(t, "SKIPPED(REPLACED)", enginetest.States([]*entity.Execution{d.Execution(t, former)})[0],
					"the fire that holds the place is found by its key")
			})
		})
	}
}

// A long queue is ended in small transactions of a few statements each, after
// the job was marked as deleted (engine rules 16 and 17).
func TestTheQueueOfADeletedJobIsEndedInSteps(t *testing.T) {
	counted(t, func(d *desk, c *transactions) {
		t := d.T
		job := d.serial("long", nil)
		d.Wait(job.ID, 1001)
		require.Equal(t, 1000, d.waits(job.ID))
		require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
		for _, row := range d.Rows(job.ID) {
			require.Equal(t, "CANCELLED(DELETED)", enginetest.States([]*entity.Execution{row})[0])
			require.Empty(t, row.Claim)
		}
		require.Empty(t, d.InFlightFires(t, job.ID))
		require.GreaterOrEqual(t, c.count["job.queue"], 5)
		require.LessOrEqual(t, c.most["job.queue"], stepStatements(d))
	})
}

// What a call leaves of a deleted job, because the store went away, the sweep
// ends: what is in its queue, and what waits for a moment.
func TestTheSweepEndsWhatADeletionLeft(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.serial("long", nil)
		d.Wait(job.ID, 501)
		plain := d.Create(enginetest.Job("delayed", nil))
		delayed, err := d.Jobs.Trigger(t.Context(), plain.ID,
			jobs.Trigger{Source: entity.TriggerManual, DelaySec: 30 * 24 * 3600})
		require.NoError(t, err)
		d.Faults.Next("job.queue", enginetest.Refused, enginetest.Refused)
		require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0), "the deletion itself is stored")
		require.NoError(t, d.Jobs.Delete(t.Context(), plain.ID, 0))
		require.Equal(t, 500, d.waits(job.ID))
		require.Equal(t, entity.StatusWaiting, d.Execution(t, delayed[0]).Status)
		d.sweep()
		require.Zero(t, d.waits(job.ID))
		require.Equal(t, "CANCELLED(DELETED)", enginetest.States([]*entity.Execution{d.Execution(t, delayed[0])})[0])
		require.Len(t, d.InFlightFires(t, job.ID), 1, "the first is ready to be claimed, and ended then")
		require.Zero(t, d.Slots("default"))
	})
}

// A delayed run of a deleted plain job ends with the job (engine rule 17).
func TestADeletedJobsDelayedRunIsCancelled(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("plain", nil))
	ids, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{Source: entity.TriggerManual, DelaySec: 30 * 24 * 3600})
	require.NoError(t, err)
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	require.Equal(t, "CANCELLED(DELETED)", enginetest.States([]*entity.Execution{d.Execution(t, ids[0])})[0])
	require.Contains(t, fmt.Sprint(d.Events(t)), ids[0])
}

// A job that is freed of its limit lets its queue go in steps, and leaves no
// places behind that would count when it is bound again.
func TestAJobThatIsFreedLetsItsQueueGoInSteps(t *testing.T) {
	counted(t, func(d *desk, c *transactions) {
		t := d.T
		job := d.serial("long", nil)
		d.Wait(job.ID, 901)
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapParallel })
		require.Zero(t, d.waits(job.ID))
		require.Empty(t, d.InFlightFires(t, job.ID))
		require.GreaterOrEqual(t, c.count["job.queue"], 4, "the first step is the edit's")
		require.LessOrEqual(t, c.most["job.queue"], stepStatements(d))
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		require.Equal(t, []bool{true}, d.Ready(d.Trigger(job.ID)...), "what was let go does not count")
	})
}

// The sweep lets go what an edit left.
func TestTheSweepLetsGoWhatAnEditLeft(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.serial("long", nil)
		d.Wait(job.ID, 901)
		d.Faults.Next("job.queue", enginetest.Refused)
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapParallel })
		require.NotZero(t, d.waits(job.ID))
		d.sweep()
		require.Zero(t, d.waits(job.ID))
	})
}

// Under REPLACE the newest waits alone, also when the policy comes late.
func TestAQueueThatBecomesREPLACEKeepsItsNewest(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.serial("long", nil)
		d.Wait(job.ID, 451)
		before := d.InFlightFires(t, job.ID)
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapReplace })
		after := d.InFlightFires(t, job.ID)
		require.Equal(t, []int64{1, 451}, []int64{after[0].Seq, after[1].Seq})
		require.Len(t, after, 2)
		counts := map[string]int{}
		for _, state := range enginetest.States(d.Rows(job.ID)) {
			counts[state]++
		}
		require.Equal(t, map[string]int{"WAITING": 2, "SKIPPED(REPLACED)": 449}, counts)
		require.Len(t, before, 451)
		require.Len(t, finals(d), 449, "each is told")
	})
}

// finals are the events of executions.
func finals(d *desk) (events []entity.Event) {
	for _, e := range d.Events(d.T) {
		if e.Topic == entity.TopicExecutions {
			events = append(events, e)
		}
	}
	return events
}

// A queue that is full takes no more, whatever was cancelled out of its midst.
func TestTheLengthOfAQueueIsCountedWhereItDecides(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.serial("bounded", func(j *entity.Job) { j.MaxQueued = 5 })
		var ids []string
		for range 6 {
			ids = append(ids, d.Trigger(job.ID)...)
		}
		full := d.Trigger(job.ID)[0]
		require.Equal(t, []string{"SKIPPED(QUEUE_FULL)"}, enginetest.States([]*entity.Execution{d.Execution(t, full)}))
		d.Cancel(ids[2])
		d.Cancel(ids[3])
		for range 2 {
			next := d.Execution(t, d.Trigger(job.ID)[0])
			require.Equal(t, entity.StatusWaiting, next.Status, "there is room again")
		}
		full = d.Trigger(job.ID)[0]
		require.Equal(t, []string{"SKIPPED(QUEUE_FULL)"}, enginetest.States([]*entity.Execution{d.Execution(t, full)}))
	})
}

// The sweep steps from job to job: neither a queue that is long nor one that
// cannot move hides a job behind it (engine rule 10).
func TestALongQueueHidesNoOtherFromTheSweep(t *testing.T) {
	d := newDesk(t)
	long, other := d.serial("long", nil), d.serial("other", nil)
	require.Less(t, long.ID, other.ID)
	d.Wait(long.ID, 700)
	d.Wait(other.ID, 2)
	forgotten := d.InFlightFires(t, other.ID)
	d.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.InFlightFires.Delete(ctx, forgotten[:1]) })
	d.sweep()
	require.Zero(t, d.waits(other.ID))
}

// What an end that was stored apart, or a node of a former release, leaves of
// fires that are over, the sweep gives up (engine rule 16).
func TestTheSweepGivesUpFiresOfWhichNothingIsLive(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job, wide := d.serial("serial", nil), d.serial("wide", func(j *entity.Job) { j.ShardCount = 3 })
		first, second := d.Trigger(job.ID)[0], d.Trigger(job.ID)[0]
		shards, behind := d.Trigger(wide.ID), d.Trigger(wide.ID)
		d.Finish(first, entity.StatusSuccess, entity.ReasonNone) // and nobody gives its place on
		d.Finish(shards[0], entity.StatusSuccess, entity.ReasonNone)
		d.sweep()
		require.Equal(t, []bool{false}, d.Ready(second), "it is looked at after a minute")
		d.Clock.Advance(61 * time.Second)
		d.sweep()
		require.Equal(t, []bool{true}, d.Ready(second))
		require.Len(t, d.InFlightFires(t, job.ID), 1)
		require.Equal(t, 2, d.InFlightFires(t, wide.ID)[0].Remaining)
		d.Cancel(shards[1])
		require.Equal(t, []bool{false}, d.Ready(behind[0]))
		d.Cancel(shards[2])
		require.Equal(t, []bool{true}, d.Ready(behind[0]))
	})
}

// Runs that stand in the queue although their fire does not wait start, and
// those whose fire is unknown wait again: a former release left such.
func TestTheSweepFindsRunsThatWaitForNothing(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.serial("serial", nil)
		first, second := d.Trigger(job.ID)[0], d.Trigger(job.ID)[0]
		fires := d.InFlightFires(t, job.ID)
		d.Write(t, func(ctx context.Context, tx repository.Tx) error {
			fires[1].Active = true // promoted, but its run was not found
			if err := tx.InFlightFires.Update(ctx, fires[1:]); err != nil {
				return err
			}
			return tx.InFlightFires.Delete(ctx, fires[:1])
		})
		d.Finish(first, entity.StatusSuccess, entity.ReasonNone)
		third := d.Trigger(job.ID)[0]
		lost := d.InFlightFires(t, job.ID)[1:]
		d.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.InFlightFires.Delete(ctx, lost) })
		d.sweep()
		require.Equal(t, []bool{true, false}, d.Ready(second, third))
		d.sweep()
		require.Len(t, d.InFlightFires(t, job.ID), 2, "the third waits again")
		d.Cancel(second)
		require.Equal(t, []bool{true}, d.Ready(third))
	})
}

// Engine rule 7: the end of a run arms a FIXED_DELAY job again as long as its
// schedule is the one of the fire, whatever else was edited meanwhile.
func TestFixedDelayGoesOnAfterEditsThatLeaveTheSchedule(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(d *desk, id string)
		arms bool
	}{
		"nothing": {func(*desk, string) {}, true},
		"another field": {func(d *desk, id string) {
			d.Replace(id, func(j *entity.Job) { j.Description = "edited" })
		}, true},
		"pause and resume": {func(d *desk, id string) { d.pause(id); d.resume(id) }, true},
		"pause":            {func(d *desk, id string) { d.pause(id) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				t := d.T
				d.Start(t)
				release := d.Script.Hold()
				job := d.Create(enginetest.Job("delay", func(j *entity.Job) {
					j.Schedule.Kind, j.Schedule.IntervalMs, j.Schedule.StartTime = schedule.FixedDelay, 1000, noon(time.Second)
				}))
				d.After(time.Second)
				row := d.Rows(job.ID)[0]
				d.AwaitStatus(t, row.ID, entity.StatusRunning)
				c.edit(d, job.ID)
				d.Clock.Advance(5 * time.Second)
				release()
				d.AwaitStatus(t, row.ID, entity.StatusSuccess)
				if !c.arms {
					require.NotEqual(t, noon(7*time.Second), d.Job(job.ID).NextFireTime)
					return
				}
				require.Equal(t, noon(7*time.Second), d.Job(job.ID).NextFireTime, "counted from the end of the run")
			})
		})
	}
}

func (d *desk) pause(id string) {
	d.T.Helper()
	_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{})
	require.NoError(d.T, err)
}

func (d *desk) resume(id string) {
	d.T.Helper()
	_, err := d.Jobs.Resume(d.T.Context(), id)
	require.NoError(d.T, err)
}
