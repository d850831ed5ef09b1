package planning

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Due plans what is due of a job at now, under its present definition. limit is
// the most fires. A FIXED_DELAY job has one scheduled time, and no next one until
// its run has ended.
func Due(job *entity.Job, sched *schedule.Schedule, now time.Time, limit int) Plan {
	return Decide(Input{
		Schedule: View(job, sched), Cursor: job.NextFireTime, Now: now, Jitter: sched.Jitter(job.ID),
		Misfire: job.Misfire, MaxFires: limit,
	})
}

// Apply moves the job's cursor to where the plan ends. It returns the latest
// scheduled time that was decided to run, zero when none was.
func (p Plan) Apply(job *entity.Job, sched *schedule.Schedule) (last time.Time) {
	if n := len(p.Fires); n > 0 {
		last = p.Fires[n-1].ScheduledTime
		job.LastFireTime = last
	} else if p.Skip != nil { // else the fires behind it decide more
		job.DecideUntil(p.Skip.End)
	}
	if job.Schedule.Kind == schedule.FixedDelay && p.Next.IsZero() {
		job.ClearCursor()
	} else {
		job.Advance(sched, p.Next)
	}
	return last
}

// View is the schedule of a job as Decide and Span see it.
func View(job *entity.Job, sched *schedule.Schedule) Cursorer {
	if job.Schedule.Kind == schedule.FixedDelay {
		return single(job.NextFireTime)
	}
	return sched
}

// single is a schedule of one moment.
type single time.Time

// Next implements Cursorer.
func (s single) Next(after time.Time) (time.Time, bool) {
	if !after.Before(time.Time(s)) {
		return time.Time{}, false
	}
	return time.Time(s), true
}

// LatestAtOrBefore implements Cursorer.
func (s single) LatestAtOrBefore(from, t time.Time) (time.Time, bool) {
	at := time.Time(s)
	return at, !at.Before(from) && !at.After(t)
}

// Count implements Cursorer.
func (s single) Count(first, end time.Time, _ int) (int, bool) {
	if _, ok := s.LatestAtOrBefore(first, end.Add(-time.Millisecond)); ok {
		return 1, false
	}
	return 0, false
}
