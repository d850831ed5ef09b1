package coordination

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Ended gives on the places of runs that became final in this transaction.
// jobs are the locked definitions (see Lock); rows of jobs that are not in it
// (deleted ones) only lose their places. Rows of plain jobs are ignored.
func (p *Places) Ended(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, ended []*entity.Execution,
) (Effect, error) {
	var e Effect
	finals := map[fireID]int{}
	for _, row := range ended {
		finals[fireID{row.JobID, row.FireKey}]++
	}
	if len(finals) == 0 {
		return e, nil
	}
	live, err := concerned(ctx, tx, jobs, finals)
	if err != nil {
		return e, fmt.Errorf("read live fires: %w", err)
	}
	var gone, shrunk []entity.LiveFire
	remaining := map[string][]entity.LiveFire{}
	for _, f := range live {
		n := finals[fireID{f.JobID, f.FireKey}]
		f.Remaining -= n
		switch {
		case n > 0 && f.Remaining <= 0:
			gone = append(gone, f)
			continue
		case n > 0:
			shrunk = append(shrunk, f)
		}
		remaining[f.JobID] = append(remaining[f.JobID], f)
	}
	if err := leave(ctx, tx, jobs, gone); err != nil {
		return e, err
	}
	touched := map[string]bool{}
	for _, f := range gone {
		job := jobs[f.JobID]
		if job == nil {
			continue
		}
		if err := p.rearm(ctx, tx, now, job, f, &e); err != nil {
			return e, err
		}
		touched[f.JobID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		promoted, err := p.promote(ctx, tx, now, jobs[id], remaining[id], &e)
		if err != nil {
			return e, err
		}
		shrunk = merge(shrunk, promoted)
	}
	if len(shrunk) > 0 {
		if err := tx.LiveFires.Update(ctx, shrunk); err != nil {
			return e, fmt.Errorf("update live fires: %w", err)
		}
	}
	return e, p.OpenFor(ctx, tx, now, &e, among(jobs, touched)...)
}

// concerned are the live fires that the ends of some have to do with: all those
// of jobs that let the next one start, else only those that end. The others may
// be many thousands, which wait for their group.
func concerned(ctx context.Context, tx repository.Tx, jobs map[string]*entity.Job, finals map[fireID]int) ([]entity.LiveFire, error) {
	var bounded []string
	var alone []entity.LiveFire
	for id := range finals {
		if job := jobs[id.job]; job != nil && job.FireLimit() > 0 {
			bounded = append(bounded, id.job)
		} else {
			alone = append(alone, entity.LiveFire{JobID: id.job, FireKey: id.key})
		}
	}
	live, err := tx.LiveFires.OfJobs(ctx, bounded)
	if err != nil {
		return nil, err
	}
	some, err := tx.LiveFires.Some(ctx, alone)
	return append(live, some...), err
}

// Live are the live fires of those of the locked jobs that admit by them; a job
// without a limit of its own admits every fire.
func Live(ctx context.Context, tx repository.Tx, jobs ...*entity.Job) (map[string][]entity.LiveFire, error) {
	var bounded []string
	for _, job := range jobs {
		if job.FireLimit() > 0 {
			bounded = append(bounded, job.ID)
		}
	}
	if len(bounded) == 0 {
		return nil, nil
	}
	fires, err := tx.LiveFires.OfJobs(ctx, bounded)
	if err != nil {
		return nil, fmt.Errorf("read live fires: %w", err)
	}
	live := make(map[string][]entity.LiveFire, len(bounded))
	for _, f := range fires {
		live[f.JobID] = append(live[f.JobID], f)
	}
	return live, nil
}

// leave gives up what fires hold that are over. What a deleted job was bound by
// is not known, so its places are looked for.
func leave(ctx context.Context, tx repository.Tx, jobs map[string]*entity.Job, gone []entity.LiveFire) error {
	limited := slices.DeleteFunc(slices.Clone(gone), func(f entity.LiveFire) bool {
		return jobs[f.JobID] != nil && !jobs[f.JobID].Limited
	})
	if len(limited) > 0 {
		if err := tx.Groups.Release(ctx, limited); err != nil {
			return fmt.Errorf("give up places of groups: %w", err)
		}
	}
	return deleteFires(ctx, tx, gone)
}

func among(jobs map[string]*entity.Job, ids map[string]bool) []*entity.Job {
	var out []*entity.Job
	for id := range ids {
		out = append(out, jobs[id])
	}
	return out
}

// Promote lets queued fires of a locked job start as far as its limit allows.
// One that needs no places any more, because of an edit, gives all of them up:
// left behind, they would count when the next edit makes it need them again.
func (p *Places) Promote(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job) (Effect, error) {
	var e Effect
	live, err := tx.LiveFires.OfJobs(ctx, []string{job.ID})
	if err != nil {
		return e, fmt.Errorf("read live fires: %w", err)
	}
	promoted, err := p.promote(ctx, tx, now, job, live, &e)
	switch {
	case err != nil:
		return e, err
	case !job.Coordinated():
		return e, deleteFires(ctx, tx, live)
	case len(promoted) > 0:
		if err := tx.LiveFires.Update(ctx, promoted); err != nil {
			return e, fmt.Errorf("update live fires: %w", err)
		}
	}
	return e, p.OpenFor(ctx, tx, now, &e, job)
}

func (p *Places) promote(ctx context.Context, tx repository.Tx, now time.Time,
	job *entity.Job, live []entity.LiveFire, e *Effect,
) ([]entity.LiveFire, error) {
	promoted := overlap.Promote(job.FireLimit(), live)
	for i := range promoted {
		promoted[i].Active = true
		rows, err := tx.LiveFires.RowsOf(ctx, job.ID, promoted[i].FireKey)
		if err != nil {
			return nil, fmt.Errorf("read the runs of fire %s: %w", promoted[i].FireKey, err)
		}
		for _, row := range rows {
			if row.Status != entity.StatusWaiting || !row.Claim.Queued() {
				continue
			}
			p.MakeReady(job, row, promoted[i].Seq, now, e)
			row.UpdateTime = now
			if err := tx.Executions.Update(ctx, row, entity.StatusWaiting, row.Token); err != nil {
				return nil, fmt.Errorf("let run %s start: %w", row.ID, err)
			}
		}
	}
	return promoted, nil
}

// rearm sets the next time of a FIXED_DELAY job after its scheduled fire has
// ended, unless somebody edited the job meanwhile (engine rule 7).
func (p *Places) rearm(ctx context.Context, tx repository.Tx, now time.Time,
	job *entity.Job, f entity.LiveFire, e *Effect,
) error {
	if job.Schedule.Kind != schedule.FixedDelay || !f.Scheduled ||
		job.Version != f.JobVersion || job.Status != entity.JobEnabled || !job.NextFireTime.IsZero() {
		return nil
	}
	return p.Arm(ctx, tx, job, now, e)
}

// Arm gives a locked FIXED_DELAY job its next time, counted from end. One whose
// schedule does not compile any more is paused.
func (p *Places) Arm(ctx context.Context, tx repository.Tx, job *entity.Job, end time.Time, e *Effect) error {
	sched, err := p.schedules.Compile(job.Schedule)
	if err != nil {
		return pauseBroken(ctx, tx, job, end, err)
	}
	next, ok := sched.AfterDelay(end)
	SetNext(job, sched, next, ok)
	if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{AdvanceOf(job, time.Time{})}); err != nil {
		return fmt.Errorf("re-arm job %s: %w", job.ID, err)
	}
	e.Rearmed = append(e.Rearmed, job)
	return nil
}

// SetNext moves the cursor of an enabled job; without a next time the job has
// fired for the last time and is FINISHED.
func SetNext(job *entity.Job, sched *schedule.Schedule, next time.Time, ok bool) {
	job.NextFireTime, job.DueTime = time.Time{}, time.Time{}
	if !ok {
		job.Status = entity.JobFinished
		return
	}
	job.NextFireTime = next
	job.DueTime = next.Add(sched.Jitter(job.ID))
}

// AdvanceOf is the cursor move that stores the job's state. A zero last fire
// time keeps the stored one.
func AdvanceOf(job *entity.Job, last time.Time) repository.JobAdvance {
	return repository.JobAdvance{
		ID: job.ID, NextFireTime: job.NextFireTime, DueTime: job.DueTime,
		LastFireTime: last, Status: job.Status, FenceSeq: job.FenceSeq,
	}
}

// merge puts the newer state of a fire over the older one.
func merge(fires, newer []entity.LiveFire) []entity.LiveFire {
	for _, n := range newer {
		found := false
		for i := range fires {
			if fires[i].JobID == n.JobID && fires[i].FireKey == n.FireKey {
				fires[i], found = n, true
			}
		}
		if !found {
			fires = append(fires, n)
		}
	}
	return fires
}

// ArmIfIdle gives a locked FIXED_DELAY job that is enabled, has no next time
// and no live fire its next time: nobody else will (engine rule 7).
func (p *Places) ArmIfIdle(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time, e *Effect) error {
	if job.Schedule.Kind != schedule.FixedDelay || job.Status != entity.JobEnabled || !job.NextFireTime.IsZero() {
		return nil
	}
	live, err := tx.LiveFires.OfJobs(ctx, []string{job.ID})
	if err != nil {
		return fmt.Errorf("read live fires: %w", err)
	}
	if len(live) > 0 {
		return nil
	}
	return p.Arm(ctx, tx, job, now, e)
}
