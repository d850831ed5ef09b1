package firing

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Decide plans what is due of a job at now, under its present definition. A
// FIXED_DELAY job has one nominal time and no next one until its run has ended.
func Decide(job *entity.Job, sched *schedule.Schedule, now time.Time, limit int) planning.Plan {
	in := planning.Input{
		Schedule: view(job, sched), Cursor: job.NextFireTime, Now: now, Jitter: sched.Jitter(job.ID),
		Misfire: job.Misfire, MaxFires: limit,
	}
	return planning.Decide(in)
}

// view is the schedule as planning sees it.
func view(job *entity.Job, sched *schedule.Schedule) planning.Cursorer {
	if job.Schedule.Kind == schedule.FixedDelay {
		return single(job.NextFireTime)
	}
	return sched
}

// single is a schedule of one moment.
type single time.Time

// Next implements planning's view of a schedule.
func (s single) Next(after time.Time) (time.Time, bool) {
	if !after.Before(time.Time(s)) {
		return time.Time{}, false
	}
	return time.Time(s), true
}

// LatestAtOrBefore implements planning's view of a schedule.
func (s single) LatestAtOrBefore(from, t time.Time) (time.Time, bool) {
	at := time.Time(s)
	return at, !at.Before(from) && !at.After(t)
}

// Count implements planning's view of a schedule.
func (s single) Count(first, end time.Time, _ int) (int, bool) {
	if _, ok := s.LatestAtOrBefore(first, end.Add(-time.Millisecond)); ok {
		return 1, false
	}
	return 0, false
}

// Apply moves the job's cursor to where the plan ends. It returns the latest
// nominal time that was decided to run, zero when none was.
func Apply(job *entity.Job, sched *schedule.Schedule, plan planning.Plan) (last time.Time) {
	if n := len(plan.Fires); n > 0 {
		last = plan.Fires[n-1].Nominal
		job.LastFireTime = last
	}
	if job.Schedule.Kind == schedule.FixedDelay && plan.Next.IsZero() {
		job.NextFireTime, job.DueTime = time.Time{}, time.Time{}
		return last
	}
	coordination.SetNext(job, sched, plan.Next, !plan.Next.IsZero())
	return last
}
