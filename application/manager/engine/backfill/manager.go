// Package backfill runs the scheduled times of past ranges, each once. The store holds
// the work, so a node that dies loses nothing: the node that looks
// next goes on at the cursor. The rules of the engine are in docs/rules.md.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// idleInterval is how often the store is asked while nothing is known to be
	// active: another node may have made a backfill and died.
	idleInterval = 2500 * time.Millisecond
	// maxActive is how many backfills go on at once, the oldest first.
	maxActive = 200
	// lookahead bounds the times that one transaction decides.
	lookahead = 200
)

// Deps are the parts of a Manager.
type Deps struct {
	Store     repository.Store
	Backfills repository.Backfills
	Admitter  *admission.Admitter
	Schedules admission.Compiler
	// Commits are told what may start. Losing it costs time, not truth.
	Commits *commit.Commits
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
}

// Manager admits the runs of backfills, in order and never more of one at once
// than it allows. Several may work on one store: the lock of the job orders
// them. Safe for concurrent use.
type Manager struct {
	Deps
	// awake: the next look must not be put off.
	awake  atomic.Bool
	looked atomic.Int64
}

// New wires the parts.
func New(d Deps) *Manager {
	m := &Manager{Deps: d}
	m.awake.Store(true)
	return m
}

// RunOnce moves every active backfill on. While there is none it asks the
// store only now and then, however often it is called. The trouble of one
// backfill does not hold the others up.
func (m *Manager) RunOnce(ctx context.Context) error {
	now := m.Clock.Monotonic()
	if !m.awake.Swap(false) && now-time.Duration(m.looked.Load()) < idleInterval {
		return nil
	}
	m.looked.Store(int64(now))
	active, err := m.Backfills.ActiveBackfills(ctx, maxActive)
	if err != nil {
		m.awake.Store(true) // a look that was put off would pass for one that went well
		return fmt.Errorf("find active backfills: %w", err)
	}
	var errs []error
	for _, b := range active {
		if b.Unreadable != "" {
			continue // the store tells of it
		}
		m.awake.Store(true)
		waits, err := m.waits(ctx, b)
		if err == nil && !waits {
			err = m.Admit(ctx, b)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("backfill %s: %w", b.ID, err))
		}
	}
	return errors.Join(errs...)
}

// Admit starts what a backfill may start now, and ends it when nothing is left
// of it.
func (m *Manager) Admit(ctx context.Context, b entity.Backfill) error {
	m.awake.Store(true)
	for {
		more, err := m.step(ctx, b.JobID, b.ID)
		if apperror.Is(err, apperror.KindConflict) {
			return nil // somebody else moved it on
		}
		if err != nil || !more {
			return err
		}
	}
}

// waits reports that nothing can happen before one of the runs is over, as
// cheaply as that can be known: without a lock.
func (m *Manager) waits(ctx context.Context, b entity.Backfill) (bool, error) {
	limit := b.MaxParallel
	if !b.Cursor.Before(b.To) {
		limit = 1
	}
	if len(b.Open) < limit {
		return false, nil
	}
	fires, err := m.Backfills.FiresAt(ctx, b.JobID, b.Open)
	return len(Read(fires).open(b)) >= limit, err
}

// step is one transaction: the next times are decided, and their runs and the
// cursor stored together.
func (m *Manager) step(ctx context.Context, jobID, id string) (more bool, err error) {
	var p *pass
	m.Admitter.PrepareIDs(ctx, jobID)
	err = m.Store.Write(ctx, repository.LaneAPI, "backfill", func(ctx context.Context, tx repository.Tx) error {
		p, more = nil, false
		jobs, err := m.Admitter.Lock(ctx, tx, []string{jobID})
		if err != nil {
			return err
		}
		b, err := tx.Backfills.Get(ctx, id)
		if err != nil || b.Status != entity.BackfillActive {
			return err
		}
		if job := jobs[jobID]; job != nil && job.Unreadable() != "" || b.Unreadable != "" {
			return nil // it waits until somebody mends it
		}
		p = &pass{admitter: m.Admitter, tx: tx, job: jobs[jobID], b: b, now: m.StoreClock.Now()}
		sched, err := m.Schedules.Compile(b.Schedule)
		if err != nil {
			return fmt.Errorf("compile the schedule of job %s: %w", jobID, err)
		}
		more, err = p.run(ctx, sched.Unstarted())
		return err
	})
	if err == nil && p != nil {
		m.Commits.AfterCommit(p.admitted.PostCommit)
	}
	return more, err
}
