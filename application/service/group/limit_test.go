package group_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// limit sets the bound of a group, which must exist, and expects every job to know at
// once. A limit counts fires, not shards, and the place that becomes free goes to the
// most urgent that waits.
func TestAGroupLimitCountsFiresOverItsJobs(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Grouped(2)
		wide := d.In("g", "wide", func(j *entity.Job) { j.ShardCount = 3 })
		low, high := d.In("g", "low", nil), d.In("g", "high", func(j *entity.Job) { j.Priority = 9 })
		other := d.Create(enginetest.Job("elsewhere", nil))
		shards := d.Trigger(wide.ID)
		first, second, urgent := d.Trigger(low.ID)[0], d.Trigger(low.ID)[0], d.Trigger(high.ID)[0]
		require.Equal(t, []bool{true, true, true, true, false, false}, d.Ready(shards[0], shards[1], shards[2], first, second,
			urgent))
		require.Equal(t, []bool{true}, d.Ready(d.Trigger(other.ID)...), "of another group")
		d.Cancel(shards[0])
		d.Cancel(shards[1])
		require.Equal(t, []bool{false, false}, d.Ready(second, urgent), "one shard is left")
		d.Cancel(shards[2])
		require.Equal(t, []bool{false, true}, d.Ready(second, urgent))
		require.Equal(t, 2, d.Slots("g"))
		d.Cancel(second)
		d.Cancel(first)
		d.Cancel(urgent)
		require.Zero(t, d.Slots("g"))
	})
}

// A first limit finds runs of jobs that needed no places until now.
func TestALimitBindsWhatIsThere(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		release := d.Script.Hold()
		d.Start(t)
		d.Grouped(0)
		job := d.In("g", "plain", nil)
		var running []string
		for range 3 {
			running = append(running, d.Trigger(job.ID)...)
		}
		d.Script.Await(t, 3)
		d.Runner.Suspend(true)
		waiting := append(d.Trigger(job.ID), d.Trigger(job.ID)...)
		require.Equal(t, []bool{true, true}, d.Ready(waiting...))
		d.Limit("g", 2)
		require.Equal(t, 3, d.Slots("g"), "what runs is stopped by no limit")
		require.Equal(t, []bool{false, false}, d.Ready(waiting...))
		require.True(t, d.Job(job.ID).Limited)
		release()
		for _, id := range running {
			d.AwaitStatus(t, id, entity.StatusSuccess)
		}
		_, err := d.Repairs.SweepLimits(t.Context()) // those who ended them knew of no places
		require.NoError(t, err)
		require.Equal(t, []bool{true, true}, d.Ready(waiting...))
		third := d.Trigger(job.ID)[0]
		require.Equal(t, []bool{false}, d.Ready(third))
		d.Limit("g", 3)
		require.Equal(t, []bool{true}, d.Ready(third), "raised")
		fourth := d.Trigger(job.ID)[0]
		d.Limit("g", 1)
		d.Cancel(third)
		d.Cancel(waiting[0])
		require.Equal(t, []bool{false}, d.Ready(fourth), "lowered")
		d.Limit("g", 0)
		require.Equal(t, []bool{true}, d.Ready(fourth), "none any more")
		require.False(t, d.Job(job.ID).Limited)
		require.Zero(t, d.Slots("g"))
	})
}

// A waiting run goes where its job goes.
func TestAJobTakesItsRunsToItsNewGroup(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Grouped(1)
		_, err := d.Groups.Create(t.Context(), "h", 1)
		require.NoError(t, err)
		stays, moves := d.In("g", "stays", nil), d.In("g", "moves", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		first, second := d.Trigger(moves.ID)[0], d.Trigger(stays.ID)[0]
		queued := d.Trigger(moves.ID)[0]
		require.Equal(t, []bool{true, false, false}, d.Ready(first, second, queued))
		d.Replace(moves.ID, func(j *entity.Job) { j.Group = "h" })
		require.Equal(t, []bool{true, true, false}, d.Ready(first, second, queued))
		require.Equal(t, []int{1, 1}, []int{d.Slots("g"), d.Slots("h")})
		d.Replace(moves.ID, func(j *entity.Job) { j.Group = "g" })
		require.Equal(t, []bool{false, true, false}, d.Ready(first, second, queued), "nothing of it has begun")
		d.Replace(moves.ID, func(j *entity.Job) { j.Group = "free" })
		require.Equal(t, []bool{true, true, false}, d.Ready(first, second, queued))
		d.Cancel(first)
		require.Equal(t, []bool{true}, d.Ready(queued), "its own limit still holds")
		d.Replace(moves.ID, func(j *entity.Job) { j.Group = "g" })
		require.NoError(t, d.Jobs.Delete(t.Context(), stays.ID, 0))
		require.Equal(t, []bool{true}, d.Ready(queued), "the deleted job leaves its place")
		require.Equal(t, []int{1, 0}, []int{d.Slots("g"), d.Slots("h")})
		require.NoError(t, d.Jobs.Delete(t.Context(), moves.ID, 0))
		require.Zero(t, d.Slots("g"))
	})
}

// The run of a deleted job keeps its place until it is over.
func TestADeletedJobsRunGivesItsPlaceOn(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		release := d.Script.Hold()
		d.Start(t)
		d.Grouped(1)
		gone, next := d.In("g", "gone", nil), d.In("g", "next", nil)
		first := d.Trigger(gone.ID)[0]
		d.Script.Await(t, 1)
		second := d.Trigger(next.ID)[0]
		require.NoError(t, d.Jobs.Delete(t.Context(), gone.ID, 0))
		require.Equal(t, []bool{false}, d.Ready(second))
		release()
		d.AwaitStatus(t, first, entity.StatusSuccess)
		d.AwaitStatus(t, second, entity.StatusSuccess)
	})
}

// A delayed run takes no place before its moment; one that is late ends by its
// start deadline.
func TestDelaysAndDeadlinesUnderALimit(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Grouped(1)
		job := d.In("g", "job", func(j *entity.Job) { j.StartDeadlineSec = 60 })
		delayed, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{Source: entity.TriggerAPI, DelaySec: 30})
		require.NoError(t, err)
		now := d.Trigger(job.ID)[0]
		require.Equal(t, []bool{false, true}, d.Ready(delayed[0], now))
		d.Clock.Advance(30 * time.Second)
		_, err = d.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		require.True(t, d.Execution(t, delayed[0]).Claim.Grouped(), "its moment has come, its place is taken")
		d.Clock.Advance(61 * time.Second)
		n, err := d.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, []string{"SKIPPED(DEADLINE)", "SKIPPED(DEADLINE)"},
			enginetest.States([]*entity.Execution{d.Execution(t, now), d.Execution(t, delayed[0])}))
		require.Zero(t, d.Slots("g"))
	})
}

// An attempt that failed keeps the place of its fire while it backs off.
func TestARetryKeepsItsPlace(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
		d.Start(t)
		d.Grouped(1)
		job := d.In("g", "fails", func(j *entity.Job) {
			j.Retry = entity.RetryPolicy{MaxRetries: 1, Backoff: entity.BackoffFixed, IntervalMs: 10_000}
		})
		first := d.Trigger(job.ID)[0]
		enginetest.Await(t, func() bool { return d.Execution(t, first).RetryCount == 1 }, "it is retried")
		second := d.Trigger(job.ID)[0]
		require.Equal(t, []bool{false}, d.Ready(second))
		d.Pass(t, func() bool { return d.Execution(t, second).Status == entity.StatusDead }, "it is given up")
		require.Equal(t, entity.StatusDead, d.Execution(t, first).Status)
		require.Zero(t, d.Slots("g"))
	})
}

// Scheduled fires of one instant: the batch starts the most urgent, and none of
// them directly.
func TestABatchOfFiresKeepsTheLimit(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Grouped(2)
		var jobs []*entity.Job
		for priority := 1; priority <= 5; priority++ {
			jobs = append(jobs, d.In("g", string(rune('a'+priority)), func(j *entity.Job) {
				enginetest.Every(time.Minute)(j)
				j.Priority = priority
			}))
		}
		plain := d.In("free", "plain", enginetest.Every(time.Minute))
		d.After(time.Minute)
		var ids []string
		for _, job := range jobs {
			ids = append(ids, d.Rows(job.ID)[0].ID)
		}
		require.Equal(t, []bool{false, false, false, true, true}, d.Ready(ids...))
		require.Equal(t, entity.StatusRunning, d.Rows(plain.ID)[0].Status, "a direct start")
	})
}

// A job that needed places, needed none, and needs them again does not find
// those of the first time.
func TestPlacesDoNotOutliveTheirPolicy(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		release := d.Script.Hold()
		job := d.In("free", "job", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		first, second := d.Trigger(job.ID)[0], d.Trigger(job.ID)[0]
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapParallel })
		require.Equal(t, []bool{true, true}, d.Ready(first, second))
		d.Start(t)
		release()
		d.AwaitStatus(t, first, entity.StatusSuccess)
		d.AwaitStatus(t, second, entity.StatusSuccess)
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		d.AwaitStatus(t, d.Trigger(job.ID)[0], entity.StatusSuccess)
	})
}

// A cancel may be under way while the group of the job gets its first limit:
// which jobs are to be locked is judged under lock, and no place stays behind.
func TestACancelBesideAFirstLimitLeavesNoPlace(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		a, b := d.In("g", "a", nil), d.In("g", "b", nil)
		run := d.Trigger(a.ID)[0]
		limit := sync.OnceFunc(func() { d.Limit("g", 1) })
		d.Faults.Before(func(name string) {
			if name == "close" {
				limit()
			}
		})
		d.Cancel(run)
		require.Equal(t, entity.StatusCancelled, d.Execution(t, run).Status)
		require.Zero(t, d.Slots("g"))
		require.Empty(t, d.InFlightFires(t, a.ID))
		require.Equal(t, []bool{true}, d.Ready(d.Trigger(b.ID)[0]), "nothing of the group runs, so the other may")
	})
}
