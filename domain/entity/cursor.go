package entity

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Advance moves the cursor to the first undecided time of the job's schedule. A
// zero time says that there is none: the job is finished.
func (j *Job) Advance(s *schedule.Schedule, next time.Time) {
	if next.IsZero() {
		j.Finish()
		return
	}
	j.NextFireTime, j.DueTime = next, next.Add(s.Jitter(j.ID))
}

// Decided is the last moment that a fire or a range of the job has decided; zero is none. No plan may name it, or an
// earlier one, again (engine rule 3): neither an edit nor a clock that is set back opens decided time.
func (j *Job) Decided() time.Time {
	if last := j.DecidedUntil.Add(-time.Millisecond); !j.DecidedUntil.IsZero() && last.After(j.LastFireTime) {
		return last
	}
	return j.LastFireTime
}

// DecideUntil notes that a range ends at a moment.
func (j *Job) DecideUntil(end time.Time) {
	if end.After(j.DecidedUntil) {
		j.DecidedUntil = end
	}
}

// Finish ends the planning of a job whose schedule names no further time.
func (j *Job) Finish() {
	j.Status = JobFinished
	j.ClearCursor()
}

// ClearCursor leaves the job without a planned time. One that is enabled and of
// kind FIXED_DELAY gets its next when its run has ended.
func (j *Job) ClearCursor() { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} }

// PauseBy stops the planning of the job. The pause of a group has no end of its
// own here: it is the group's.
func (j *Job) PauseBy(cause PauseCause, p Pause, since time.Time) {
	if cause == PausedByGroup {
		p.Until = time.Time{}
	}
	j.Status, j.PausedAt, j.PausedBy, j.Pause, j.DueTime = JobPaused, since, cause, p, time.Time{}
}

// Resume enables the job and ends its pause. The caller plans it from where its
// cursor stands then, see Advance.
func (j *Job) Resume() {
	j.Status, j.PausedAt, j.PausedBy, j.Pause = JobEnabled, time.Time{}, PausedByUser, Pause{}
}
