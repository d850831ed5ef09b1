package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// openLimit bounds the fires that one transaction lets go on; the sweep and who
// frees the next slot do the rest.
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

// FillGroupSlotsOf is FillGroupSlots for the groups of the jobs that are bound by a limit.
func (p *Admitter) FillGroupSlotsOf(ctx context.Context, tx repository.Tx, now time.Time, e *commit.PostCommit,
	jobs ...*entity.Job,
) error {
	return p.FillGroupSlots(ctx, tx, now, e, limited(jobs)...)
}

// FillGroupSlots gives the free slots of groups to the fires that wait for them, by
// priority and fair time. It is the only way to a slot: whoever adds a fire of
// a group with a limit, ends one, or changes the limit calls it in the same
// transaction. The caller holds the locks of the groups; those of the jobs are
// not needed, because nothing else moves what waits for a group.
func (p *Admitter) FillGroupSlots(ctx context.Context, tx repository.Tx, now time.Time, e *commit.PostCommit,
	groups ...string,
) error {
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		if err := p.fillGroup(ctx, tx, now, e, group); err != nil {
			return fmt.Errorf("give slots of the group %s: %w", group, err)
		}
	}
	return nil
}

func (p *Admitter) fillGroup(ctx context.Context, tx repository.Tx, now time.Time, e *commit.PostCommit,
	group string,
) error {
	limits, err := tx.Groups.Lock(ctx, []string{group})
	if err != nil {
		return err
	}
	free := openLimit
	if limit := limits[group]; limit > 0 {
		held, err := tx.Groups.CountSlots(ctx, group)
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

// grant gives a slot to the fire of each of the executions, and sends the fires'
// executions, also those behind, to where they are claimed. It returns how many fires
// these are.
func (p *Admitter) grant(ctx context.Context, tx repository.Tx, now time.Time, e *commit.PostCommit,
	group string, first []*entity.Execution,
) (int, error) {
	var slots []entity.GroupSlot
	var execs []*entity.Execution
	var ids []string
	seen := map[fireID]bool{}
	for _, exec := range first {
		id := fireID{exec.JobID, exec.FireKey}
		if seen[id] {
			continue
		}
		seen[id] = true
		ids = append(ids, exec.JobID)
		slots = append(slots, entity.GroupSlot{Group: group, JobID: exec.JobID, FireKey: exec.FireKey})
		if exec.ShardTotal <= 1 {
			execs = append(execs, exec)
			continue
		}
		shards, err := tx.InFlightFires.ExecutionsOf(ctx, entity.InFlightFire{
			JobID: exec.JobID, FireKey: exec.FireKey,
			Active: true, Remaining: exec.ShardTotal,
		})
		if err != nil {
			return 0, fmt.Errorf("read the runs of fire %s: %w", exec.FireKey, err)
		}
		execs = append(execs, slices.DeleteFunc(shards, func(s *entity.Execution) bool { return !s.Claim.Grouped() })...)
	}
	if err := tx.Groups.Take(ctx, slots); err != nil {
		return 0, err
	}
	jobs, err := p.definitions(ctx, tx, ids)
	if err != nil {
		return 0, err
	}
	return len(slots), p.requeue(ctx, tx, now, e, jobs, execs)
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

// requeue moves executions out of the queue of their group, at their priority and fair
// time, to where they are claimed.
func (p *Admitter) requeue(ctx context.Context, tx repository.Tx, now time.Time, e *commit.PostCommit,
	jobs map[string]*entity.Job, execs []*entity.Execution,
) error {
	numbers, err := p.numbers(ctx, tx, jobs, execs)
	if err != nil {
		return err
	}
	for _, exec := range execs {
		job := jobs[exec.JobID]
		at := p.Route(job, exec, numbers[fireID{exec.JobID, exec.FireKey}])
		exec.MoveTo(at.Queue)
		exec.UpdateTime = now
		p.recordAssignment(job, at, now, e)
	}
	return tx.Executions.Requeue(ctx, execs)
}

// QueueForGroup lets scheduled runs whose moment has come wait for a slot in their group.
// jobs are the locked definitions, executions the locked executions.
func (p *Admitter) QueueForGroup(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, execs []*entity.Execution,
) (e commit.PostCommit, err error) {
	var due []*entity.Execution
	var waiting []*entity.Job
	for _, exec := range execs {
		until, _ := exec.Claim.ScheduledUntil()
		if exec.Status != entity.StatusWaiting || !exec.Claim.ScheduledLimited() || until.After(now) {
			continue
		}
		if job := jobs[exec.JobID]; job != nil {
			p.MakeReady(job, exec, 0, now, &e)
			waiting = append(waiting, job)
		} else {
			p.enqueue(nil, exec, 0, exec.DueTime, now, &e)
		}
		exec.UpdateTime = now
		due = append(due, exec)
	}
	if err := tx.Executions.Requeue(ctx, due); err != nil {
		return e, fmt.Errorf("let %d scheduled runs wait for their groups: %w", len(due), err)
	}
	return e, p.FillGroupSlotsOf(ctx, tx, now, &e, waiting...)
}
