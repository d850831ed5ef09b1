package admission

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Ended gives on the slots of runs that became final in this transaction.
// jobs are the locked definitions (see Lock); executions of jobs that are not in it
// (deleted ones) only lose their slots. Executions of plain jobs are ignored.
func (p *Admitter) Ended(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, ended []*entity.Execution,
) (commit.PostCommit, error) {
	var e commit.PostCommit
	finals := map[fireID]int{}
	for _, exec := range ended {
		finals[fireID{exec.JobID, exec.FireKey}]++
	}
	if len(finals) == 0 {
		return e, nil
	}
	gone, err := shrink(ctx, tx, finals)
	if err != nil {
		return e, err
	}
	return e, p.releaseSlots(ctx, tx, now, jobs, gone, &e)
}

// releaseSlots gives on the slots of fires of which nothing is live any more.
func (p *Admitter) releaseSlots(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, gone []entity.InFlightFire, e *commit.PostCommit,
) error {
	if err := releaseEnded(ctx, tx, jobs, gone); err != nil {
		return err
	}
	touched := map[string]bool{}
	for _, f := range gone {
		job := jobs[f.JobID]
		if job == nil {
			continue
		}
		if err := p.rearm(ctx, tx, now, job, f, e); err != nil {
			return err
		}
		touched[f.JobID] = true
	}
	changed := pick(jobs, touched)
	if _, err := p.fill(ctx, tx, now, changed, e); err != nil {
		return err
	}
	return p.FillGroupSlotsOf(ctx, tx, now, e, changed...)
}

// Recount gives up an in-flight fire of which no run is live, and counts one anew of
// which fewer are than it says. Neither should be: an end that was stored apart
// from what follows from it, or by a node that did not know of a new limit,
// leaves it so (engine rule 16). Under the job's lock nothing else changes it.
func (p *Admitter) Recount(ctx context.Context, tx repository.Tx, now time.Time,
	f entity.InFlightFire,
) (e commit.PostCommit, err error) {
	jobs, locked, err := p.TryLock(ctx, tx, []string{f.JobID})
	if err == nil && len(locked) > 0 {
		err = repository.ErrLocked
	}
	if err != nil {
		return e, err
	}
	found, err := tx.InFlightFires.Some(ctx, []entity.InFlightFire{f})
	if err != nil || len(found) == 0 {
		return e, err
	}
	rows, err := countLive(ctx, tx, found[0])
	if err != nil {
		return e, fmt.Errorf("read the runs of fire %s: %w", f.FireKey, err)
	}
	switch {
	case rows == 0:
		return e, p.releaseSlots(ctx, tx, now, jobs, found, &e)
	case rows < found[0].Remaining:
		found[0].Remaining = rows
		return e, tx.InFlightFires.Update(ctx, found)
	}
	return e, nil
}

// countLive counts the live runs of a fire. Where fewer are found than should be,
// and the ids are not computed, it looks at all that is live of the job: the
// clock of a node of a former release may have jumped while it made them.
func countLive(ctx context.Context, tx repository.Tx, f entity.InFlightFire) (int, error) {
	execs, err := tx.InFlightFires.ExecutionsOf(ctx, f)
	if _, planned := identity.ScheduledTimeOf(f.FireKey); err != nil || planned || len(execs) >= f.Remaining {
		return len(execs), err
	}
	all, _, err := tx.Executions.LiveOf(ctx, f.JobID, math.MaxInt, func(exec *entity.Execution) bool {
		return exec.FireKey == f.FireKey
	})
	return len(all), err
}

// shrink takes the shards that are final off their fires, and returns the fires
// of which none is left.
func shrink(ctx context.Context, tx repository.Tx, finals map[fireID]int) (gone []entity.InFlightFire, err error) {
	asked := make([]entity.InFlightFire, 0, len(finals))
	for id := range finals {
		asked = append(asked, entity.InFlightFire{JobID: id.job, FireKey: id.key})
	}
	live, err := tx.InFlightFires.Some(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("read in-flight fires: %w", err)
	}
	var shrunk []entity.InFlightFire
	for _, f := range live {
		if f.Remaining -= finals[fireID{f.JobID, f.FireKey}]; f.Remaining <= 0 {
			gone = append(gone, f)
		} else {
			shrunk = append(shrunk, f)
		}
	}
	if len(shrunk) == 0 {
		return gone, nil
	}
	if err := tx.InFlightFires.Update(ctx, shrunk); err != nil {
		return nil, fmt.Errorf("update in-flight fires: %w", err)
	}
	return gone, nil
}

// releaseEnded gives up what fires hold that are over. The limits of a deleted job are
// not known, so its slots are looked for.
func releaseEnded(ctx context.Context, tx repository.Tx, jobs map[string]*entity.Job,
	gone []entity.InFlightFire,
) error {
	limited := slices.DeleteFunc(slices.Clone(gone), func(f entity.InFlightFire) bool {
		return jobs[f.JobID] != nil && !jobs[f.JobID].Limited
	})
	if len(limited) > 0 {
		if err := tx.Groups.Release(ctx, limited); err != nil {
			return fmt.Errorf("give up slots of groups: %w", err)
		}
	}
	return deleteFires(ctx, tx, gone)
}

// pick are those of the jobs, in the order of their ids.
func pick(jobs map[string]*entity.Job, ids map[string]bool) []*entity.Job {
	out := make([]*entity.Job, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, jobs[id])
	}
	return out
}

// rearm sets the next time of a FIXED_DELAY job after its scheduled fire has
// ended, unless somebody gave it another delay meanwhile (engine rule 7).
func (p *Admitter) rearm(ctx context.Context, tx repository.Tx, now time.Time,
	job *entity.Job, f entity.InFlightFire, e *commit.PostCommit,
) error {
	if job.Schedule.Kind != schedule.FixedDelay || !f.Scheduled || job.Status != entity.JobEnabled ||
		!job.NextFireTime.IsZero() {
		return nil
	}
	if job.Version != f.JobVersion {
		former, known, err := tx.Jobs.ScheduleOf(ctx, job.ID, f.JobVersion)
		if err != nil {
			return fmt.Errorf("read the schedule of job %s at version %d: %w", job.ID, f.JobVersion, err)
		}
		if !known || !former.SameRhythm(job.Schedule) {
			return nil // the sweep arms it
		}
	}
	scheduled, _ := identity.ScheduledTimeOf(f.FireKey)
	return p.Arm(ctx, tx, job, scheduled, now, e)
}

// Arm gives a locked FIXED_DELAY job its next time. It counts from the latest time that the store's clock may show:
// a node that knows that clock better than this one must not cut the delay short. It counts from the last decided
// time where the clock was set back behind that (engine rule 3). A job whose schedule does not compile any more is
// paused as of now.
func (p *Admitter) Arm(ctx context.Context, tx repository.Tx, job *entity.Job, decided, now time.Time,
	e *commit.PostCommit,
) error {
	sched, err := p.schedules.Compile(job.Schedule)
	if err != nil {
		return p.pauseBroken(ctx, tx, job, now, err)
	}
	from := p.clock.Latest()
	if decided.After(from) {
		from = decided
	}
	next, _ := sched.AfterDelay(from)
	job.Advance(sched, next)
	if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{repository.AdvanceOf(job, time.Time{})}); err != nil {
		return fmt.Errorf("re-arm job %s: %w", job.ID, err)
	}
	e.Rearmed = append(e.Rearmed, job)
	return nil
}

// ArmIfIdle gives a locked FIXED_DELAY job that is enabled, has no next time
// and no in-flight fire its next time: nobody else will (engine rule 7).
func (p *Admitter) ArmIfIdle(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time,
	e *commit.PostCommit,
) error {
	if job.Schedule.Kind != schedule.FixedDelay || job.Status != entity.JobEnabled || !job.NextFireTime.IsZero() {
		return nil
	}
	counts, err := tx.InFlightFires.Count(ctx, []string{job.ID})
	if err != nil {
		return fmt.Errorf("count in-flight fires: %w", err)
	}
	if c := counts[job.ID]; c.Active > 0 || c.FirstQueued > 0 {
		return nil
	}
	whole, err := tx.Jobs.LockFull(ctx, job.ID) // a definition in memory does not tell what is decided
	if err != nil {
		return fmt.Errorf("read what is decided of job %s: %w", job.ID, err)
	}
	return p.Arm(ctx, tx, job, whole.Decided(), now, e)
}
