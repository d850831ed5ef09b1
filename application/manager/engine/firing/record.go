package firing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// write is the fire transaction (engine rule 8). The jobs are locked and
// checked first, then the executions inserted by id. Jobs that need not know
// of their other fires are advanced by the same statement that checks them;
// the cursors of coordinated ones move last, with the number of the fires that
// were admitted. A fire that fails the check, or is locked by somebody else, drops
// out, and nothing of it stays.
func (m *JobManager) write(ctx context.Context, tx repository.Tx, items []*item, now time.Time, res *result) error {
	var plain, coordinated []*item
	for _, it := range items {
		if len(it.fires) > 0 {
			coordinated = append(coordinated, it)
		} else {
			plain = append(plain, it)
		}
	}
	if err := m.movePlain(ctx, tx, plain, now, res); err != nil {
		return err
	}
	admitted, err := m.admit(ctx, tx, coordinated, now, res)
	if err != nil || len(res.fired) == 0 {
		return err
	}
	slices.SortFunc(res.execs, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	if err := tx.Executions.Insert(ctx, res.execs); err != nil {
		return fmt.Errorf("insert %d executions: %w", len(res.execs), err)
	}
	if err := m.Admitter.RecordDeadlines(ctx, tx, res.execs, withDeadline(res.fired)...); err != nil {
		return err
	}
	if len(admitted) > 0 {
		if err := tx.Jobs.Advance(ctx, admitted); err != nil {
			return fmt.Errorf("advance %d jobs: %w", len(admitted), err)
		}
	}
	if err := m.Admitter.FillGroupSlotsOf(ctx, tx, now, &res.postCommit, jobsOf(coordinated)...); err != nil {
		return err
	}
	return m.Admitter.RecordEnds(ctx, tx, now, res.ended())
}

// movePlain checks and advances jobs whose fires need no slot, and drops
// those that somebody else fired, edited, paused or deleted.
func (m *JobManager) movePlain(ctx context.Context, tx repository.Tx, items []*item, now time.Time, res *result) error {
	if len(items) == 0 {
		return nil
	}
	moves := make([]repository.JobMove, len(items))
	for i, it := range items {
		moves[i] = repository.JobMove{
			JobAdvance: it.advance(), From: it.due.Job.NextFireTime, Version: it.job.Version,
		}
	}
	moved, locked, err := tx.Jobs.Move(ctx, moves)
	if err != nil {
		return fmt.Errorf("advance %d due jobs: %w", len(moves), err)
	}
	for _, it := range items {
		switch {
		case moved[it.job.ID]:
			m.accept(it, now, res)
		case slices.Contains(locked, it.job.ID):
			res.locked = append(res.locked, it)
		default:
			res.dropped = append(res.dropped, it)
		}
	}
	return nil
}

// accept takes the executions of a job that passed the check into the transaction.
func (m *JobManager) accept(it *item, now time.Time, res *result) {
	res.fired = append(res.fired, it)
	for _, exec := range it.execs {
		if exec.Status == entity.StatusWaiting {
			m.Admitter.MakeReady(&it.job, exec, 0, now, &res.postCommit)
		}
	}
	res.execs = append(res.execs, it.execs...)
}

// admit locks and checks coordinated jobs, and decides what becomes of their
// fires. It returns the cursor moves that store the decisions.
func (m *JobManager) admit(ctx context.Context, tx repository.Tx, items []*item, now time.Time,
	res *result,
) ([]repository.JobAdvance, error) {
	if len(items) == 0 {
		return nil, nil
	}
	heads, locked, err := tx.Jobs.TryLock(ctx, idsOfItems(items))
	if err != nil {
		return nil, fmt.Errorf("lock %d due jobs: %w", len(items), err)
	}
	items = slices.DeleteFunc(slices.Clone(items), func(it *item) bool {
		held := slices.Contains(locked, it.job.ID)
		if held {
			res.locked = append(res.locked, it)
		}
		return held
	})
	if err := admission.LockGroups(ctx, tx, jobsOf(items)); err != nil {
		return nil, err
	}
	live, err := admission.LiveOf(ctx, tx, jobsOf(items)...)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*repository.JobHead, len(heads))
	for i := range heads {
		byID[heads[i].ID] = &heads[i]
	}
	var moves []repository.JobAdvance
	var a admission.Admission
	for _, it := range items {
		head := byID[it.job.ID]
		if head == nil || head.Version != it.job.Version || head.Status != entity.JobEnabled ||
			!head.NextFireTime.Equal(it.due.Job.NextFireTime) {
			res.dropped = append(res.dropped, it)
			continue
		}
		it.job.FenceSeq = head.FenceSeq
		m.accept(it, now, res)
		for _, f := range it.fires {
			if err := m.Admitter.Admit(ctx, tx, now, &it.job, live[it.job.ID], f, &a); err != nil {
				return nil, err
			}
		}
		moves = append(moves, it.advance())
	}
	res.execs = append(res.execs, a.Executions...)
	res.postCommit.Add(a.PostCommit)
	if len(a.InFlightFires) == 0 {
		return moves, nil
	}
	if err := tx.InFlightFires.Insert(ctx, a.InFlightFires); err != nil {
		return nil, fmt.Errorf("insert %d in-flight fires: %w", len(a.InFlightFires), err)
	}
	return moves, nil
}

func idsOfItems(items []*item) []string {
	return convert.All(items, func(it *item) string { return it.job.ID })
}

// withDeadline are the jobs of items that have a deadline: mostly none.
func withDeadline(items []*item) (jobs []*entity.Job) {
	for _, it := range items {
		if it.job.Deadline.At != "" {
			jobs = append(jobs, &it.job)
		}
	}
	return jobs
}

func jobsOf(items []*item) []*entity.Job {
	return convert.All(items, func(it *item) *entity.Job { return &it.job })
}

// ended are the executions of the transaction that are final already: those of fires
// that do not run, and those that newer fires have ended.
func (r *result) ended() []*entity.Execution {
	var ended []*entity.Execution
	for _, exec := range r.execs {
		if exec.Status.Final() {
			ended = append(ended, exec)
		}
	}
	for _, exec := range r.postCommit.Closed {
		if !slices.Contains(r.execs, exec) {
			ended = append(ended, exec)
		}
	}
	return ended
}
