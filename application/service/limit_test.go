package service_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// limit sets the bound of a group, which must exist, and expects every job to
// know at once.
func (d *desk) limit(group string, n int) {
	d.t.Helper()
	g, err := d.Groups.Limit(d.t.Context(), group, n, 0)
	require.NoError(d.t, err)
	require.True(d.t, g.Converged)
}

// in is a job of a group.
func (d *desk) in(group, name string, change func(j *entity.Job)) *entity.Job {
	d.t.Helper()
	return d.create(enginetest.Job(name, func(j *entity.Job) {
		j.Group = group
		if change != nil {
			change(j)
		}
	}))
}

// ready tells which of the runs may start now.
func (d *desk) ready(ids ...string) []bool {
	d.t.Helper()
	out := make([]bool, len(ids))
	for i, id := range ids {
		row := d.Execution(d.t, id)
		out[i] = row.Claim.Ready()
		require.Equal(d.t, entity.StatusWaiting, row.Status)
	}
	return out
}

// places counts those that a group's fires hold.
func (d *desk) places(group string) (n int) {
	d.t.Helper()
	d.Write(d.t, func(ctx context.Context, tx repository.Tx) (err error) {
		n, err = tx.Groups.CountPlaces(ctx, group)
		return err
	})
	return n
}

func (d *desk) cancel(id string) {
	d.t.Helper()
	require.NoError(d.t, d.Executions.Cancel(d.t.Context(), id))
}

func grouped(d *desk, limit int) {
	d.t.Helper()
	_, err := d.Groups.Create(d.t.Context(), "g", limit)
	require.NoError(d.t, err)
}

// A limit counts fires, not shards, and the place that becomes free goes to the
// most urgent that waits.
func TestAGroupLimitCountsFiresOverItsJobs(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		grouped(d, 2)
		wide := d.in("g", "wide", func(j *entity.Job) { j.ShardCount = 3 })
		low, high := d.in("g", "low", nil), d.in("g", "high", func(j *entity.Job) { j.Priority = 9 })
		other := d.create(enginetest.Job("elsewhere", nil))
		shards := d.trigger(wide.ID)
		first, second, urgent := d.trigger(low.ID)[0], d.trigger(low.ID)[0], d.trigger(high.ID)[0]
		require.Equal(t, []bool{true, true, true, true, false, false}, d.ready(shards[0], shards[1], shards[2], first, second, urgent))
		require.Equal(t, []bool{true}, d.ready(d.trigger(other.ID)...), "of another group")
		d.cancel(shards[0])
		d.cancel(shards[1])
		require.Equal(t, []bool{false, false}, d.ready(second, urgent), "one shard is left")
		d.cancel(shards[2])
		require.Equal(t, []bool{false, true}, d.ready(second, urgent))
		require.Equal(t, 2, d.places("g"))
		d.cancel(second)
		d.cancel(first)
		d.cancel(urgent)
		require.Zero(t, d.places("g"))
	})
}

// A first limit finds runs of jobs that needed no places until now.
func TestALimitBindsWhatIsThere(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		release := d.Script.Hold()
		d.Start(t)
		grouped(d, 0)
		job := d.in("g", "plain", nil)
		var running []string
		for range 3 {
			running = append(running, d.trigger(job.ID)...)
		}
		d.Script.Await(t, 3)
		d.Runner.Suspend(true)
		waiting := append(d.trigger(job.ID), d.trigger(job.ID)...)
		require.Equal(t, []bool{true, true}, d.ready(waiting...))
		d.limit("g", 2)
		require.Equal(t, 3, d.places("g"), "what runs is stopped by no limit")
		require.Equal(t, []bool{false, false}, d.ready(waiting...))
		require.True(t, d.job(job.ID).Limited)
		release()
		for _, id := range running {
			d.AwaitStatus(t, id, entity.StatusSuccess)
		}
		_, err := d.Repairs.SweepLimits(t.Context()) // those who ended them knew of no places
		require.NoError(t, err)
		require.Equal(t, []bool{true, true}, d.ready(waiting...))
		third := d.trigger(job.ID)[0]
		require.Equal(t, []bool{false}, d.ready(third))
		d.limit("g", 3)
		require.Equal(t, []bool{true}, d.ready(third), "raised")
		fourth := d.trigger(job.ID)[0]
		d.limit("g", 1)
		d.cancel(third)
		d.cancel(waiting[0])
		require.Equal(t, []bool{false}, d.ready(fourth), "lowered")
		d.limit("g", 0)
		require.Equal(t, []bool{true}, d.ready(fourth), "none any more")
		require.False(t, d.job(job.ID).Limited)
		require.Zero(t, d.places("g"))
	})
}

// What waits goes where its job goes.
func TestAJobTakesItsRunsToItsNewGroup(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		grouped(d, 1)
		_, err := d.Groups.Create(t.Context(), "h", 1)
		require.NoError(t, err)
		stays, moves := d.in("g", "stays", nil), d.in("g", "moves", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		first, second := d.trigger(moves.ID)[0], d.trigger(stays.ID)[0]
		queued := d.trigger(moves.ID)[0]
		require.Equal(t, []bool{true, false, false}, d.ready(first, second, queued))
		d.replace(moves.ID, func(j *entity.Job) { j.Group = "h" })
		require.Equal(t, []bool{true, true, false}, d.ready(first, second, queued))
		require.Equal(t, []int{1, 1}, []int{d.places("g"), d.places("h")})
		d.replace(moves.ID, func(j *entity.Job) { j.Group = "g" })
		require.Equal(t, []bool{false, true, false}, d.ready(first, second, queued), "nothing of it has begun")
		d.replace(moves.ID, func(j *entity.Job) { j.Group = "free" })
		require.Equal(t, []bool{true, true, false}, d.ready(first, second, queued))
		d.cancel(first)
		require.Equal(t, []bool{true}, d.ready(queued), "its own limit still holds")
		d.replace(moves.ID, func(j *entity.Job) { j.Group = "g" })
		require.NoError(t, d.Jobs.Delete(t.Context(), stays.ID, 0))
		require.Equal(t, []bool{true}, d.ready(queued), "the deleted job leaves its place")
		require.Equal(t, []int{1, 0}, []int{d.places("g"), d.places("h")})
		require.NoError(t, d.Jobs.Delete(t.Context(), moves.ID, 0))
		require.Zero(t, d.places("g"))
	})
}

// The run of a deleted job keeps its place until it is over.
func TestADeletedJobsRunGivesItsPlaceOn(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		release := d.Script.Hold()
		d.Start(t)
		grouped(d, 1)
		gone, next := d.in("g", "gone", nil), d.in("g", "next", nil)
		first := d.trigger(gone.ID)[0]
		d.Script.Await(t, 1)
		second := d.trigger(next.ID)[0]
		require.NoError(t, d.Jobs.Delete(t.Context(), gone.ID, 0))
		require.Equal(t, []bool{false}, d.ready(second))
		release()
		d.AwaitStatus(t, first, entity.StatusSuccess)
		d.AwaitStatus(t, second, entity.StatusSuccess)
	})
}

// A delayed run takes no place before its moment; one that is late ends by its
// start deadline.
func TestDelaysAndDeadlinesUnderALimit(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		grouped(d, 1)
		job := d.in("g", "job", func(j *entity.Job) { j.StartDeadlineSec = 60 })
		delayed, err := d.Jobs.Trigger(t.Context(), job.ID, service.Trigger{Source: entity.TriggerAPI, DelaySec: 30})
		require.NoError(t, err)
		now := d.trigger(job.ID)[0]
		require.Equal(t, []bool{false, true}, d.ready(delayed[0], now))
		d.Clock.Advance(30 * time.Second)
		_, err = d.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		require.True(t, d.Execution(t, delayed[0]).Claim.Grouped(), "its moment has come, its place is taken")
		d.Clock.Advance(61 * time.Second)
		n, err := d.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, []string{"SKIPPED(DEADLINE)", "SKIPPED(DEADLINE)"}, enginetest.States([]*entity.Execution{d.Execution(t, now), d.Execution(t, delayed[0])}))
		require.Zero(t, d.places("g"))
	})
}

// An attempt that failed keeps the place of its fire while it backs off.
func TestARetryKeepsItsPlace(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
		d.Start(t)
		grouped(d, 1)
		job := d.in("g", "fails", func(j *entity.Job) {
			j.Retry = entity.RetryPolicy{MaxRetries: 1, Backoff: entity.BackoffFixed, IntervalMs: 10_000}
		})
		first := d.trigger(job.ID)[0]
		require.Eventually(t, func() bool { return d.Execution(t, first).RetryCount == 1 }, 20*time.Second, time.Millisecond)
		second := d.trigger(job.ID)[0]
		require.Equal(t, []bool{false}, d.ready(second))
		require.Eventually(t, func() bool {
			d.Clock.Advance(time.Second)
			return d.Execution(t, second).Status == entity.StatusDead
		}, 20*time.Second, 5*time.Millisecond)
		require.Equal(t, entity.StatusDead, d.Execution(t, first).Status)
		require.Zero(t, d.places("g"))
	})
}

// Scheduled fires of one instant: the batch starts the most urgent, and none of
// them directly.
func TestABatchOfFiresKeepsTheLimit(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		grouped(d, 2)
		var jobs []*entity.Job
		for priority := 1; priority <= 5; priority++ {
			jobs = append(jobs, d.in("g", string(rune('a'+priority)), func(j *entity.Job) {
				enginetest.Every(time.Minute)(j)
				j.Priority = priority
			}))
		}
		plain := d.in("free", "plain", enginetest.Every(time.Minute))
		d.after(time.Minute)
		var ids []string
		for _, job := range jobs {
			ids = append(ids, d.rows(job.ID)[0].ID)
		}
		require.Equal(t, []bool{false, false, false, true, true}, d.ready(ids...))
		require.Equal(t, entity.StatusRunning, d.rows(plain.ID)[0].Status, "a direct start")
	})
}

// A job that needed places, needed none, and needs them again does not find
// those of the first time.
func TestPlacesDoNotOutliveTheirPolicy(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		release := d.Script.Hold()
		job := d.in("free", "job", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		first, second := d.trigger(job.ID)[0], d.trigger(job.ID)[0]
		d.replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapParallel })
		require.Equal(t, []bool{true, true}, d.ready(first, second))
		d.Start(t)
		release()
		d.AwaitStatus(t, first, entity.StatusSuccess)
		d.AwaitStatus(t, second, entity.StatusSuccess)
		d.replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		d.AwaitStatus(t, d.trigger(job.ID)[0], entity.StatusSuccess)
	})
}

// A cancel may be under way while the group of the job gets its first limit:
// which jobs are to be locked is judged under lock, and no place stays behind.
func TestACancelBesideAFirstLimitLeavesNoPlace(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		a, b := d.in("g", "a", nil), d.in("g", "b", nil)
		run := d.trigger(a.ID)[0]
		limit := sync.OnceFunc(func() { d.limit("g", 1) })
		d.Faults.Before(func(name string) {
			if name == "close" {
				limit()
			}
		})
		d.cancel(run)
		require.Equal(t, entity.StatusCancelled, d.Execution(t, run).Status)
		require.Zero(t, d.places("g"))
		require.Empty(t, d.InFlightFires(t, a.ID))
		require.Equal(t, []bool{true}, d.ready(d.trigger(b.ID)[0]), "nothing of the group runs, so the other may")
	})
}
