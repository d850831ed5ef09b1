// Package firing turns schedules into executions: a look-ahead scan finds the
// jobs that are due soon, a timing wheel holds them until they are due, and a
// batcher opens one transaction for many fires (engine rules 3–14, see
// docs/rules.md).
package firing

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dueset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Slots are those of this node.
type Slots interface {
	// WaitForSlots returns how many direct starts are possible now in general slots:
	// zero while draining or while waiting runs of the store go first. It waits up to
	// wait for that to change.
	WaitForSlots(ctx context.Context, wait time.Duration) int
	direct.Slots
}

// Owner tells which partitions this scheduler fires; nil means all of them,
// empty none.
type Owner interface {
	Partitions() []int
}

// Lease is the node's right to work, see membership.Lease.
type Lease interface {
	Holds() bool
}

// Metrics counts what happens. Implementations are safe for concurrent use.
type Metrics interface {
	// Fired counts executions by what they were born as.
	Fired(status entity.Status, reason entity.Reason, n int)
	// FireBatch observes one fire transaction.
	FireBatch(fires int, took time.Duration)
	// DuplicateFire counts fires whose id was there already: an alarm.
	DuplicateFire()
	// PoisonFire counts fires that the store refused.
	PoisonFire()
	// LockedFires counts due jobs that could not fire, because somebody else had
	// locked their rows; each try counts.
	LockedFires(n int)
}

// Config tunes a JobManager; zero values take the defaults.
type Config struct {
	// Horizon is how far ahead the scan looks; it must exceed the interval at
	// which Scan is called. Default 3 s.
	Horizon time.Duration
	// BatchSize is the most fires of one transaction. Default 500.
	BatchSize int
	// Workers is how many fire transactions run at once. Default 1.
	Workers int
	// MaxHeld bounds the due jobs in memory. Default 50,000.
	MaxHeld int
	// ExecutionLimit is about the most executions of one transaction; one fire is not
	// divided, however many shards it has. Default 2,000.
	ExecutionLimit int
	// PlanLimit is the most fires of one job in one transaction. Default 100.
	PlanLimit int
	// SlotWait is how long a batch waits for slots of runs that are ending
	// before it records its fires as WAITING. Negative: not at all. Default
	// 100 ms, which is a few completion transactions.
	SlotWait time.Duration
}

func (c Config) withDefaults() Config {
	if c.Horizon <= 0 {
		c.Horizon = 3 * time.Second
	}
	if c.BatchSize <= 0 {
		c.BatchSize = 500
	}
	if c.Workers <= 0 {
		c.Workers = 1
	}
	if c.MaxHeld <= 0 {
		c.MaxHeld = 50_000
	}
	if c.ExecutionLimit <= 0 {
		c.ExecutionLimit = 2000
	}
	if c.PlanLimit <= 0 {
		c.PlanLimit = 100
	}
	if c.SlotWait == 0 {
		c.SlotWait = 100 * time.Millisecond
	}
	return c
}

// Deps are the parts a JobManager works with.
type Deps struct {
	Store      repository.Store
	Plans      repository.JobPlanReader
	Groups     Groups
	Executions repository.ExecutionReader
	Admitter   *admission.Admitter
	// Definitions are kept for whoever runs or finishes the job next.
	Definitions admission.Definitions
	Schedules   admission.Compiler
	Clock       clock.Clock
	StoreClock  clock.StoreClock
	Slots       Slots
	Runner      direct.Runner
	// Commits are told of what a transaction did, and tell of jobs that were
	// re-armed.
	Commits *commit.Commits
	Owner   Owner
	// Lease is asked before each batch; nil always holds.
	Lease Lease
	// Beating reports whether the latest beat of the node reached the store; nil always.
	Beating func() bool
	Metrics Metrics
	Logger  *slog.Logger
}

// JobManager fires jobs. Run and Scan are its tasks; JobChanged is a short cut for
// changes made on this node.
type JobManager struct {
	Deps
	cfg    Config
	dueSet *dueset.Set
	pauses groupPauses
	blame  *batch.Blame
}

// New returns a manager that has seen nothing yet.
func New(deps Deps, cfg Config) *JobManager {
	cfg = cfg.withDefaults()
	m := &JobManager{
		Deps: deps, cfg: cfg,
		dueSet: dueset.New(deps.StoreClock.Now(), cfg.Horizon, cfg.MaxHeld),
		blame:  batch.NewBlame(deps.Clock, deps.Beating),
		pauses: groupPauses{reading: turns.NewTurn()},
	}
	deps.Commits.OnCommit(func(e commit.PostCommit) {
		for _, job := range e.Rearmed {
			m.JobChanged(job)
		}
	})
	return m
}

// idleCheck bounds how long a worker sleeps although nothing is due, so that a
// wall clock that jumps ahead is noticed.
const idleCheck = 500 * time.Millisecond

// Run fires what comes due until ctx ends. A batch that has begun is finished.
func (m *JobManager) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for range m.cfg.Workers {
		wg.Go(func() { m.work(ctx) })
	}
	wg.Go(func() { m.workLocked(ctx) })
	wg.Wait()
	return nil
}

func (m *JobManager) work(ctx context.Context) {
	timer := m.Clock.NewTimer(time.Hour)
	defer timer.Stop()
	failures := 0
	for ctx.Err() == nil {
		if !m.hasLease() || m.dueSet.Waiting(m.StoreClock.Now()) == 0 {
			m.awaitDue(ctx, timer)
			continue
		}
		if jobs, err := m.FireDue(ctx); err != nil {
			failures++
			m.Logger.Error("a fire transaction failed; its fires stay due", "error", err, "jobs", jobs, "stack",
				batch.StackOf(err))
			m.pause(ctx, timer, failures)
			continue
		}
		failures = 0
	}
}

// FireDue fires one batch of what the last scan and later due jobs found and is
// due by now; it returns the number of jobs it took up. A batch that has begun
// is finished although ctx ends.
func (m *JobManager) FireDue(ctx context.Context) (jobs int, err error) {
	groups, err := m.pausedGroups(ctx)
	if err != nil {
		return 0, err
	}
	limit := m.cfg.BatchSize
	if free := m.Slots.WaitForSlots(ctx, m.cfg.SlotWait); free > 0 {
		limit = min(limit, free)
	}
	if !m.hasLease() { // while it waited for room, too
		return 0, nil
	}
	dueJobs := m.dueSet.Take(m.StoreClock.Now(), limit)
	if len(dueJobs) == 0 {
		return 0, nil
	}
	return len(dueJobs), m.fire(ctx, dueJobs, groups, false)
}

func (m *JobManager) hasLease() bool { return m.Lease == nil || m.Lease.Holds() }

// awaitDue sleeps until the earliest due job is due or the due set changes.
func (m *JobManager) awaitDue(ctx context.Context, timer clock.Timer) {
	at, ok, changed := m.dueSet.Next()
	wait := idleCheck
	if ok && m.hasLease() {
		wait = min(wait, at.Sub(m.StoreClock.Now()))
	}
	if wait <= 0 {
		return
	}
	timer.Reset(wait)
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C():
	}
}

// pause backs off while the store fails: 100 ms, doubling to 2 s. The due jobs
// were dropped; the next scan finds the jobs again, as they are still due.
func (m *JobManager) pause(ctx context.Context, timer clock.Timer, failures int) {
	timer.Reset(batch.HeldPause(failures))
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// JobChanged takes the new state of a job that was changed on this node.
func (m *JobManager) JobChanged(job *entity.Job) {
	now := m.StoreClock.Now()
	if job.Status != entity.JobEnabled || job.DueTime.IsZero() || job.DueTime.After(now.Add(m.cfg.Horizon)) ||
		!owns(m.Owner.Partitions(), job.Partition) {
		m.dueSet.Remove(job.ID)
		return
	}
	sched, err := m.compile(job)
	if err != nil || job.Unreadable() != "" {
		m.Logger.Error("a job cannot be planned", "job", job.ID, "error", err, "unreadable", job.Unreadable())
		return
	}
	m.dueSet.Upsert(job, sched)
}

// Refresh reads jobs that were changed elsewhere, and plans those that are due
// soon; the others among them are forgotten.
func (m *JobManager) Refresh(ctx context.Context, ids []string) error {
	jobs, err := m.Plans.ForPlanning(ctx, ids)
	if err != nil {
		return fmt.Errorf("read changed jobs: %w", err)
	}
	planned := make(map[string]bool, len(jobs))
	for _, job := range jobs {
		planned[job.ID] = true
		m.JobChanged(job)
	}
	for _, id := range ids {
		if !planned[id] {
			m.dueSet.Remove(id)
		}
	}
	return nil
}

// Rebalanced drops what is held for partitions that are not owned any more,
// which saves work only: the fire transaction would find out. Then it looks for
// what is due in those that are new.
func (m *JobManager) Rebalanced(ctx context.Context) error {
	mine := m.Owner.Partitions()
	m.dueSet.RetainPartitions(mine)
	if mine != nil && len(mine) == 0 {
		return nil
	}
	_, err := m.Scan(ctx)
	return err
}

func owns(partitions []int, partition int) bool {
	return partitions == nil || slices.Contains(partitions, partition)
}

// Wake makes the workers look at the clock again, after it has jumped.
func (m *JobManager) Wake() { m.dueSet.Wake() }

// Held is the number of jobs held in memory because they are due soon.
func (m *JobManager) Held() int { return m.cfg.MaxHeld - m.dueSet.Free() }
