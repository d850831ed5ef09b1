package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// openLimit bounds the fires that one transaction lets go on; the sweep and who
// frees the next place do the rest.
const openLimit = 500

// LockGroups locks the groups of those of the locked jobs that are bound by a
// limit, and the groups given.
func LockGroups(ctx context.Context, tx repository.Tx, jobs []*entity.Job, groups ...string) error {
	names := append(limited(jobs), groups...)
	if len(names) == 0 {
		return nil
	}
	if _, err := tx.Groups.Lock(ctx, names); err != nil {
		return fmt.Errorf("lock %d groups: %w", len(names), err)
	}
	return nil
}

// limited are the groups of the jobs that are bound by a limit.
func limited(jobs []*entity.Job) []string {
	var names []string
	for _, job := range jobs {
		if job.Limited {
			names = append(names, job.Group)
		}
	}
	return names
}

// FillGroupSlotsOf is Open for the groups of the jobs that are bound by a limit.
func (p *Admitter) FillGroupSlotsOf(ctx context.Context, tx repository.Tx, now time.Time, e *PostCommit, jobs ...*entity.Job) error {
	return p.FillGroupSlots(ctx, tx, now, e, limited(jobs)...)
}

// FillGroupSlots gives the free slots of groups to the fires that wait for them, by
// priority and fair time. It is the only way to a place: whoever adds a fire of
// a group with a limit, ends one, or changes the limit calls it in the same
// transaction. The caller holds the locks of the groups; those of the jobs are
// not needed, because nothing else moves what waits for a group.
func (p *Admitter) FillGroupSlots(ctx context.Context, tx repository.Tx, now time.Time, e *PostCommit, groups ...string) error {
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		if err := p.fillGroup(ctx, tx, now, e, group); err != nil {
			return fmt.Errorf("give places of the group %s: %w", group, err)
		}
	}
	return nil
}

func (p *Admitter) fillGroup(ctx context.Context, tx repository.Tx, now time.Time, e *PostCommit, group string) error {
	limits, err := tx.Groups.Lock(ctx, []string{group})
	if err != nil {
		return err
	}
	free := openLimit
	if limit := limits[group]; limit > 0 {
		held, err := tx.Groups.CountPlaces(ctx, group)
		if err != nil {
			return err
		}
		free = min(free, limit-held)
	}
	for free > 0 {
		first, err := tx.Groups.Next(ctx, group, free)
		if err != nil || len(first) == 0 {
			return err
		}
		n, err := p.grant(ctx, tx, now, e, group, first)
		if err != nil {
			return err
		}
		free -= n
	}
	return nil
}

// grant gives a place to the fire of each of the rows, and sends the fires'
// rows, also those behind, to where they are claimed. It returns how many fires
// these are.
func (p *Admitter) grant(ctx context.Context, tx repository.Tx, now time.Time, e *PostCommit,
	group string, first []*entity.Execution,
) (int, error) {
	var places []entity.GroupPlace
	var rows []*entity.Execution
	var ids []string
	seen := map[fireID]bool{}
	for _, row := range first {
		id := fireID{row.JobID, row.FireKey}
		if seen[id] {
			continue
		}
		seen[id] = true
		ids = append(ids, row.JobID)
		places = append(places, entity.GroupPlace{Group: group, JobID: row.JobID, FireKey: row.FireKey})
		if row.ShardTotal <= 1 {
			rows = append(rows, row)
			continue
		}
		shards, err := tx.InFlightFires.RowsOf(ctx, entity.InFlightFire{JobID: row.JobID, FireKey: row.FireKey, Active: true, Remaining: row.ShardTotal})
		if err != nil {
			return 0, fmt.Errorf("read the runs of fire %s: %w", row.FireKey, err)
		}
		rows = append(rows, slices.DeleteFunc(shards, func(s *entity.Execution) bool { return !s.Claim.Grouped() })...)
	}
	if err := tx.Groups.Take(ctx, places); err != nil {
		return 0, err
	}
	jobs, err := p.definitions(ctx, tx, ids)
	if err != nil {
		return 0, err
	}
	return len(places), p.requeue(ctx, tx, now, e, jobs, rows)
}

// definitions reads the jobs as they are now, without a lock.
func (p *Admitter) definitions(ctx context.Context, tx repository.Tx, ids []string) (map[string]*entity.Job, error) {
	found, err := tx.Jobs.Read(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the jobs of waiting runs: %w", err)
	}
	jobs := make(map[string]*entity.Job, len(found))
	for _, job := range found {
		jobs[job.ID] = job
	}
	return jobs, nil
}

// requeue moves rows out of the queue of their group, at their priority and fair
// time, to where they are claimed.
func (p *Admitter) requeue(ctx context.Context, tx repository.Tx, now time.Time, e *PostCommit,
	jobs map[string]*entity.Job, rows []*entity.Execution,
) error {
	numbers, err := p.numbers(ctx, tx, jobs, rows)
	if err != nil {
		return err
	}
	for _, row := range rows {
		job := jobs[row.JobID]
		at := p.Route(job, row, numbers[fireID{row.JobID, row.FireKey}])
		row.MoveTo(at.Queue)
		row.UpdateTime = now
		p.recordAssignment(job, at, now, e)
	}
	return tx.Executions.Requeue(ctx, rows)
}

// Due lets delayed runs whose moment has come wait for a place in their group.
// jobs are the locked definitions, rows the locked rows.
func (p *Admitter) Due(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, rows []*entity.Execution,
) (e PostCommit, err error) {
	var due []*entity.Execution
	var waiting []*entity.Job
	for _, row := range rows {
		until, _ := row.Claim.ParkedUntil()
		if row.Status != entity.StatusWaiting || !row.Claim.Delayed() || until.After(now) {
			continue
		}
		if job := jobs[row.JobID]; job != nil {
			p.MakeReady(job, row, 0, now, &e)
			waiting = append(waiting, job)
		} else {
			p.enqueue(nil, row, 0, row.DueTime, now, &e)
		}
		row.UpdateTime = now
		due = append(due, row)
	}
	if err := tx.Executions.Requeue(ctx, due); err != nil {
		return e, fmt.Errorf("let %d delayed runs wait for their groups: %w", len(due), err)
	}
	return e, p.FillGroupSlotsOf(ctx, tx, now, &e, waiting...)
}
