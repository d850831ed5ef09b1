package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ErrManyRuns is returned by MoveToGroup for a job of which more runs are live than
// one transaction should move.
var ErrManyRuns = errors.New("too many runs of the job are live to be moved at once")

// MoveLimit bounds the runs that one transaction of MoveToGroup or MoveSomeToGroup moves.
const MoveLimit = 200

// MoveToGroup brings the fires of a locked job under what its group asks now: the job
// was moved, or its group got a limit or lost it. A run that has begun goes
// on and counts where it is; others wait for a slot there. Of more than limit
// runs it moves none, and returns ErrManyRuns. The caller holds the locks of both
// groups, stores the job, whose FenceSeq may grow, and fills both.
func (p *Admitter) MoveToGroup(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, limit int,
	e *commit.PostCommit,
) error {
	execs, more, err := tx.Executions.LiveOf(ctx, job.ID, limit, outOfSync(job))
	switch {
	case err != nil:
		return fmt.Errorf("read what is live of job %s: %w", job.ID, err)
	case more:
		return ErrManyRuns
	}
	if err := tx.Groups.ReleaseJob(ctx, job.ID); err != nil {
		return fmt.Errorf("give up the slots of job %s: %w", job.ID, err)
	}
	return p.moveToGroup(ctx, tx, now, job, execs, e)
}

// MoveSomeToGroup does a part of what MoveToGroup would do to a locked job that is changed
// later: those of the runs that have not begun go to where they will wait, and
// the job's FenceSeq is stored. Until the change they wait there, whoever opens
// the group. A fire of several runs is bound by MoveToGroup alone, which sees all of it.
func (p *Admitter) MoveSomeToGroup(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, ids []string,
	e *commit.PostCommit,
) error {
	execs, err := tx.Executions.Lock(ctx, ids)
	if err != nil {
		return fmt.Errorf("lock %d waiting runs of job %s: %w", len(ids), job.ID, err)
	}
	wrong, seq := outOfSync(job), job.FenceSeq
	execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool {
		return exec.JobID != job.ID || exec.Status != entity.StatusWaiting || exec.Attempt > 0 || job.Limited &&
			exec.ShardTotal > 1 || !wrong(exec)
	})
	if err := p.moveToGroup(ctx, tx, now, job, execs, e); err != nil || job.FenceSeq == seq {
		return err
	}
	if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{repository.AdvanceOf(job, time.Time{})}); err != nil {
		return fmt.Errorf("store the fence number of job %s: %w", job.ID, err)
	}
	return nil
}

// outOfSync tells of a live run whether its claim key is one that a run of the job
// does not have under what the group of the job asks. Runs that hold a slot are
// among them: which slots they hold is not to be seen in the key.
func outOfSync(job *entity.Job) func(*entity.Execution) bool {
	if !job.Limited {
		return func(exec *entity.Execution) bool { return exec.Claim.Grouped() || exec.Claim.ScheduledLimited() }
	}
	lo, hi := entity.GroupQueue(job.Group).Range()
	return func(exec *entity.Execution) bool {
		k := exec.Claim
		return !k.Queued() && !k.ScheduledLimited() && (k < lo || k >= hi)
	}
}

func (p *Admitter) moveToGroup(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	execs []*entity.Execution, e *commit.PostCommit,
) error {
	switch {
	case len(execs) == 0:
		return nil
	case job.Limited:
		return p.applyLimit(ctx, tx, now, job, execs)
	}
	return p.dropLimit(ctx, tx, now, job, execs, e)
}

// applyLimit makes the live runs of a job fires of its group. Executions of a job that was
// plain until now have no slot among the job's fires either, and get one.
func (p *Admitter) applyLimit(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	execs []*entity.Execution,
) error {
	fires := byFire(execs)
	asked := make([]entity.InFlightFire, len(fires))
	for i, fire := range fires {
		asked[i] = entity.InFlightFire{JobID: job.ID, FireKey: fire[0].FireKey}
	}
	live, err := tx.InFlightFires.Some(ctx, asked)
	if err != nil {
		return fmt.Errorf("read in-flight fires: %w", err)
	}
	known := make(map[string]entity.InFlightFire, len(live))
	for _, f := range live {
		known[f.FireKey] = f
	}
	var born []entity.InFlightFire
	var slots []entity.GroupSlot
	var moved []*entity.Execution
	for _, fire := range fires {
		f, ok := known[fire[0].FireKey]
		if !ok {
			job.FenceSeq++
			f = entity.InFlightFire{
				JobID: job.ID, FireKey: fire[0].FireKey, Active: true, Remaining: len(fire), Seq: job.FenceSeq,
				CreateTime: fire[0].CreateTime,
			}
			born = append(born, f)
		}
		switch {
		case !f.Active: // it waits for its job
		case begun(fire):
			slots = append(slots, entity.GroupSlot{Group: job.Group, JobID: job.ID, FireKey: f.FireKey, ExecutionID: fire[0].ID})
		default:
			moved = append(moved, fire...)
		}
	}
	for _, exec := range moved {
		exec.UpdateTime = now
		if until, scheduled := exec.Claim.ScheduledUntil(); scheduled {
			exec.WaitUntil(until, true)
		} else {
			exec.MoveTo(entity.GroupQueue(job.Group))
		}
	}
	if err := tx.InFlightFires.Insert(ctx, born); err != nil {
		return fmt.Errorf("give slots to the runs of job %s: %w", job.ID, err)
	}
	if err := tx.Groups.Take(ctx, slots); err != nil {
		return fmt.Errorf("give slots of the group %s to the runs of job %s: %w", job.Group, job.ID, err)
	}
	return tx.Executions.Requeue(ctx, moved)
}

// dropLimit lets go what waits for a group.
func (p *Admitter) dropLimit(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	execs []*entity.Execution, e *commit.PostCommit,
) error {
	var waiting, scheduled []*entity.Execution
	for _, exec := range execs {
		switch until, _ := exec.Claim.ScheduledUntil(); {
		case exec.Claim.Grouped():
			waiting = append(waiting, exec)
		case exec.Claim.ScheduledLimited():
			exec.WaitUntil(until, false)
			exec.UpdateTime = now
			e.Schedule(until)
			scheduled = append(scheduled, exec)
		}
	}
	if err := tx.Executions.Requeue(ctx, scheduled); err != nil {
		return err
	}
	return p.requeue(ctx, tx, now, e, map[string]*entity.Job{job.ID: job}, waiting)
}

// byFire are the executions of each fire, in the order of the first ones.
func byFire(execs []*entity.Execution) [][]*entity.Execution {
	var fires [][]*entity.Execution
	at := map[string]int{}
	for _, exec := range execs {
		i, ok := at[exec.FireKey]
		if !ok {
			i = len(fires)
			at[exec.FireKey], fires = i, append(fires, nil)
		}
		fires[i] = append(fires[i], exec)
	}
	return fires
}

// begun reports whether any of the runs runs, or has run and is to be retried.
func begun(execs []*entity.Execution) bool {
	for _, exec := range execs {
		if exec.Status == entity.StatusRunning || exec.Attempt > 0 {
			return true
		}
	}
	return false
}
