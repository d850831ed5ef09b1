package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Closer ends runs that have not started.
type Closer struct {
	Store    repository.Store
	Admitter *admission.Admitter
	Jobs     Jobs
	Clock    clock.StoreClock
}

// errUnlocked ends a transaction that has found jobs which it should have locked.
var errUnlocked = errors.New("a job of the runs is coordinated now")

// Ending makes a waiting execution final, by a method of it.
type Ending func(exec *entity.Execution, now time.Time) error

// CloseWaiting ends those of the executions that still wait, and gives their
// slots on. wanted is asked again about each locked execution. Which jobs are locked
// is judged by what is known of them, and again under the locks of the executions: an
// edit may have given a plain job's run a slot in between.
func (c *Closer) CloseWaiting(ctx context.Context, lane repository.Lane, execs []*entity.Execution,
	end Ending, wanted func(*entity.Execution, time.Time) bool,
) (closed []*entity.Execution, effect commit.PostCommit, err error) {
	closing := closing{Closer: c, end: end, wanted: wanted, locks: map[string]bool{}, waits: lane == repository.LaneAPI}
	closing.ids = entity.IDsOf(execs)
	known, err := c.Jobs.For(ctx, execs)
	if err != nil {
		return nil, effect, err
	}
	c.Admitter.Prepare(ctx, slices.Collect(maps.Values(known))...)
	for _, job := range known {
		if job.Coordinated() {
			closing.locks[job.ID] = true
		}
	}
	for {
		err = c.Store.Write(ctx, lane, "close", func(ctx context.Context, tx repository.Tx) error {
			closed, effect, err = closing.run(ctx, tx)
			return err
		})
		if !errors.Is(err, errUnlocked) {
			return closed, effect, err
		}
	}
}

// closing is the transaction of CloseWaiting.
type closing struct {
	*Closer
	ids    []string
	end    Ending
	wanted func(*entity.Execution, time.Time) bool
	// waits: somebody waits for the answer, also when another holds a row.
	waits bool
	// locks are the jobs to be locked; it grows while the transaction runs again.
	locks map[string]bool
}

func (c *closing) run(ctx context.Context,
	tx repository.Tx,
) (closed []*entity.Execution, effect commit.PostCommit, err error) {
	jobs, held, err := c.lock(ctx, tx)
	if err != nil {
		return nil, effect, err
	}
	now := c.Clock.Now()
	for _, exec := range held {
		if exec.Status == entity.StatusWaiting && c.wanted(exec, now) {
			closed = append(closed, exec)
		}
	}
	if len(closed) == 0 {
		return nil, effect, nil
	}
	if err := c.checkLocks(ctx, tx, closed); err != nil {
		return nil, effect, err
	}
	for _, exec := range closed {
		if err := c.end(exec, now); err != nil {
			return nil, effect, err
		}
	}
	if err := tx.Executions.Close(ctx, closed); err != nil {
		return nil, effect, fmt.Errorf("close %d runs: %w", len(closed), err)
	}
	if effect, err = c.Admitter.Ended(ctx, tx, now, jobs, coordinatedOnly(closed, jobs)); err != nil {
		return nil, effect, err
	}
	return closed, effect, c.Admitter.RecordEnds(ctx, tx, now, closed)
}

// lock locks the jobs and the executions. Where nobody waits for the answer, what
// somebody else holds is left to the next sweep.
func (c *closing) lock(ctx context.Context,
	tx repository.Tx,
) (jobs map[string]*entity.Job, execs []*entity.Execution, err error) {
	ids := slices.Collect(maps.Keys(c.locks))
	if c.waits {
		if jobs, err = c.Admitter.Lock(ctx, tx, ids); err != nil {
			return nil, nil, err
		}
		execs, err = tx.Executions.Lock(ctx, c.ids)
		return jobs, execs, err
	}
	jobs, locked, err := c.Admitter.TryLock(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	execs, err = tx.Executions.TryLock(ctx, c.ids)
	return jobs, slices.DeleteFunc(execs, func(exec *entity.Execution) bool {
		return slices.Contains(locked, exec.JobID)
	}), err
}

// checkLocks looks whether all jobs of the locked executions are locked that must be. The
// change that binds a plain job to a limit locks the job first and its executions then: it
// has come before these locks, and is seen, or finds the executions closed.
func (c *closing) checkLocks(ctx context.Context, tx repository.Tx, execs []*entity.Execution) error {
	var plain []string
	for _, exec := range execs {
		if !c.locks[exec.JobID] {
			plain = append(plain, exec.JobID)
		}
	}
	if len(plain) == 0 {
		return nil
	}
	jobs, err := tx.Jobs.Read(ctx, plain)
	if err != nil {
		return fmt.Errorf("read the jobs of runs to be closed: %w", err)
	}
	more := false
	for _, job := range jobs {
		if job.Coordinated() {
			c.locks[job.ID], more = true, true
		}
	}
	if more {
		return errUnlocked
	}
	return nil
}

func coordinatedOnly(execs []*entity.Execution, jobs map[string]*entity.Job) []*entity.Execution {
	var out []*entity.Execution
	for _, exec := range execs {
		if jobs[exec.JobID] != nil {
			out = append(out, exec)
		}
	}
	return out
}
