package maintenance

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// slotsSweep is where the next look of SweepSlots goes on. It belongs to that
// task, which is never called twice at once.
type slotsSweep struct {
	unarmed   string
	queued    entity.ClaimKey
	scheduled *entity.Execution
	fire      entity.InFlightFire
}

// maxSteps bounds the transactions that one look spends on one job.
const maxSteps = 20

// SweepSlots repairs what a lost transaction could have left, and goes on with
// what an edit or a deletion left of a long queue (engine rules 7, 15, 16 and
// 17): FIXED_DELAY jobs that nobody will re-arm, queued fires whose job has
// room, waiting runs of deleted jobs, and in-flight fires of which no run is live.
// Each look goes on where the former ended, so that neither a long queue nor a
// job that cannot be repaired hides the others. It returns how many jobs and
// fires it touched.
func (r *Repairer) SweepSlots(ctx context.Context) (int, error) {
	touched := 0
	var errs []error
	for _, part := range []func(ctx context.Context) (int, error){
		r.sweepUnarmed, r.sweepQueues, r.sweepScheduled,
		r.sweepFires,
	} {
		n, err := part(ctx)
		touched += n
		if errs = append(errs, err); err != nil && endsSweep(err) {
			break
		}
	}
	return touched, errors.Join(errs...)
}

// endsSweep reports that what comes next would meet the same error; a row that
// somebody else has locked is no such reason.
func endsSweep(err error) bool { return batch.Passes(err) && !errors.Is(err, repository.ErrLocked) }

// maxUnwitnessed is how many jobs may meet an unknown answer of the store before any other job is repaired. Then the
// look ends, because all others would meet it, too.
const maxUnwitnessed = 8

func unknown(err error) bool { return errors.As(err, new(*repository.UnknownError)) }

// eachJob repairs jobs, and goes on past those that cannot be repaired.
func eachJob(ids []string, repair func(id string) (helped bool, err error)) (touched int, err error) {
	return each("repair the slots of job", ids, repair)
}

// each helps jobs or groups, and goes on past those that cannot be helped; what
// says in an error what was tried.
func each(what string, ids []string, help func(id string) (helped bool, err error)) (touched int, err error) {
	var errs []error
	for i, id := range ids {
		helped, err := help(id)
		if helped {
			touched++
		}
		if err == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("%s %s: %w", what, id, err))
		if endsSweep(err) || len(errs) > i && len(errs) >= maxUnwitnessed && unknown(err) {
			break
		}
	}
	return touched, errors.Join(errs...)
}

// sweepUnarmed arms FIXED_DELAY jobs.
func (r *Repairer) sweepUnarmed(ctx context.Context) (int, error) {
	ids, err := r.Plans.Unarmed(ctx, r.swept.unarmed, sweepLimit)
	if err != nil {
		return 0, err
	}
	if r.swept.unarmed = ""; len(ids) == sweepLimit {
		r.swept.unarmed = ids[len(ids)-1]
	}
	return eachJob(ids, func(id string) (bool, error) { return r.repair(ctx, id, "") })
}

// queueHead is the first run that waits for a job.
type queueHead struct {
	jobID string
	key   entity.ClaimKey
	seq   int64
}

// sweepQueues moves the queues on of jobs that have room, or do not exist any
// more. It steps from one job to the next: how long their queues are does not
// matter.
func (r *Repairer) sweepQueues(ctx context.Context) (int, error) {
	heads, err := r.queueHeads(ctx)
	if err != nil || len(heads) == 0 {
		return 0, err
	}
	ids := convert.All(heads, func(h queueHead) string { return h.jobID })
	jobs, err := r.Jobs.Load(ctx, ids)
	if err != nil {
		return 0, err
	}
	counts, err := r.Plans.CountFires(ctx, ids)
	if err != nil {
		return 0, err
	}
	stray := map[string]entity.ClaimKey{}
	move := make([]string, 0, len(heads))
	for _, h := range heads {
		job, c := jobs[h.jobID], counts[h.jobID]
		if job != nil && (c.FirstQueued == 0 || h.seq < c.FirstQueued) {
			stray[h.jobID] = h.key // its fire does not wait
		} else if job != nil && !r.mayMove(ctx, job, c, h) {
			continue
		}
		move = append(move, h.jobID)
	}
	return eachJob(move, func(id string) (bool, error) {
		if jobs[id] == nil {
			return r.closeQueue(ctx, id)
		}
		return r.repair(ctx, id, stray[id])
	})
}

// queueHeads are the first runs of the queues of some jobs.
func (r *Repairer) queueHeads(ctx context.Context) (heads []queueHead, err error) {
	queued := entity.QueuedSpan()
	lo := max(r.swept.queued, queued.Lo)
	for len(heads) < sweepLimit {
		first, err := r.Claims.First(ctx, lo, queued.Hi)
		if err != nil {
			return nil, err
		}
		if first == "" {
			lo = ""
			break
		}
		id, seq, ok := first.QueuedFire()
		if !ok {
			lo = first + "\x00"
			continue
		}
		heads = append(heads, queueHead{id, first, seq})
		_, lo = entity.QueuedRange(id)
	}
	r.swept.queued = lo
	return heads, nil
}

// mayMove reports whether something of a job's queue may move. When in doubt it
// does: the transaction looks again, under the job's lock.
func (r *Repairer) mayMove(ctx context.Context, job *entity.Job, c repository.FireCount, h queueHead) bool {
	if !job.Coordinated() || job.FireLimit() == 0 || c.Active < job.FireLimit() {
		return true
	}
	if job.Overlap != entity.OverlapReplace {
		return false
	}
	lo, hi := entity.QueuedRange(job.ID)
	last, err := r.Claims.Last(ctx, lo, hi)
	return err != nil || last != h.key // REPLACE keeps one
}

// repair brings one job's slots in line with its definition, in steps of a
// transaction each. stray is the key of queued runs whose fire does not wait.
func (r *Repairer) repair(ctx context.Context, id string, stray entity.ClaimKey) (helped bool, err error) {
	for range maxSteps {
		more := false
		again, err := r.write(ctx, func(ctx context.Context, tx repository.Tx, effect *commit.PostCommit) error {
			more = false
			jobs, locked, err := r.Admitter.TryLock(ctx, tx, []string{id})
			if err == nil && len(locked) > 0 {
				err = repository.ErrLocked
			}
			if err != nil || jobs[id] == nil {
				return err
			}
			now := r.StoreClock.Now()
			if stray != "" {
				if err := r.Admitter.Reclaim(ctx, tx, now, jobs[id], stray, effect); err != nil {
					return err
				}
			}
			promoted, left, err := r.Admitter.Promote(ctx, tx, now, jobs[id])
			if err != nil {
				return err
			}
			effect.Add(promoted)
			more = left
			return r.Admitter.ArmIfIdle(ctx, tx, jobs[id], now, effect)
		})
		helped = helped || again
		if err != nil || !more {
			return helped, err
		}
		stray = ""
	}
	return helped, nil
}

// write runs one repair in a transaction and tells what it let go.
func (r *Repairer) write(ctx context.Context, repair func(ctx context.Context, tx repository.Tx,
	effect *commit.PostCommit) error,
) (helped bool, err error) {
	var effect commit.PostCommit
	err = r.Store.Write(ctx, repository.LaneComplete, "repair", func(ctx context.Context, tx repository.Tx) error {
		effect = commit.PostCommit{}
		return repair(ctx, tx, &effect)
	})
	if err != nil {
		return false, err
	}
	r.Commits.AfterCommit(effect)
	return len(effect.Rearmed)+len(effect.Closed)+effect.Ready+effect.Away > 0, nil
}

// closeQueue ends what waits for a job that was deleted.
func (r *Repairer) closeQueue(ctx context.Context, id string) (helped bool, err error) {
	lo, hi := entity.QueuedRange(id)
	for range maxSteps {
		execs, err := r.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: admission.CloseLimit})
		if err != nil || len(execs) == 0 {
			return helped, err
		}
		n, err := r.closeDeleted(ctx, id, execs)
		if helped = helped || n > 0; err != nil || n == 0 {
			return helped, err
		}
	}
	return helped, nil
}

// closeDeleted ends waiting runs of one deleted job.
func (r *Repairer) closeDeleted(ctx context.Context, jobID string, execs []*entity.Execution) (closed int, err error) {
	ids := entity.IDsOf(execs)
	_, err = r.write(ctx, func(ctx context.Context, tx repository.Tx, effect *commit.PostCommit) (err error) {
		closed, *effect, err = r.Admitter.CloseDeleted(ctx, tx, r.StoreClock.Now(), jobID, "", ids)
		return err
	})
	if err != nil {
		return 0, err
	}
	for range closed {
		r.Metrics.Ended(entity.AttemptEnd{Status: entity.StatusCancelled, Reason: entity.ReasonDeleted})
	}
	return closed, nil
}

// sweepScheduled ends scheduled runs of deleted jobs: nobody would
// look at them before their moment.
func (r *Repairer) sweepScheduled(ctx context.Context) (int, error) {
	scheduled := entity.ScheduledSpan()
	q := repository.ClaimRange{Lo: scheduled.Lo, Hi: scheduled.Hi, Limit: sweepLimit}
	if r.swept.scheduled != nil {
		q.After(r.swept.scheduled)
	}
	execs, err := r.Claims.Range(ctx, q)
	if err != nil {
		return 0, err
	}
	if r.swept.scheduled = nil; len(execs) == sweepLimit {
		r.swept.scheduled = execs[len(execs)-1]
	}
	jobs, err := r.Jobs.For(ctx, execs)
	if err != nil {
		return 0, err
	}
	byJob := map[string][]*entity.Execution{}
	var ids []string
	for _, exec := range execs {
		if jobs.Of(exec) != nil {
			continue
		}
		if byJob[exec.JobID] == nil {
			ids = append(ids, exec.JobID)
		}
		byJob[exec.JobID] = append(byJob[exec.JobID], exec)
	}
	return eachJob(ids, func(id string) (bool, error) {
		n, err := r.closeDeleted(ctx, id, byJob[id])
		return n > 0, err
	})
}
