package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Compiler makes schedules from specs; implementations cache.
type Compiler interface {
	Compile(spec schedule.Spec) (*schedule.Schedule, error)
}

// Definitions keeps job definitions by id and version.
type Definitions interface {
	// Cached returns the definition of that version, or nil.
	Cached(id string, version int) *entity.Job
	Keep(job *entity.Job)
}

// Admitter admits fires and gives slots on. It holds no state of jobs: that is
// in the store. Safe for concurrent use.
type Admitter struct {
	schedules Compiler
	fair      *fairness.Queue
	defs      Definitions
	router    Router
	ends      *event.Ends
	clock     clock.LatestClock
}

// NewAdmitter wires the parts. Without a router every run may start anywhere. The clock is the store's.
func NewAdmitter(schedules Compiler, fair *fairness.Queue, defs Definitions, router Router, ends *event.Ends,
	c clock.LatestClock,
) *Admitter {
	return &Admitter{schedules: schedules, fair: fair, defs: defs, router: router, ends: ends, clock: c}
}

// RecordEnds is to be called in each transaction that makes runs final, with all
// of these, see event.EndObserver.
func (p *Admitter) RecordEnds(ctx context.Context, tx repository.Tx, now time.Time, ended []*entity.Execution) error {
	return p.ends.Record(ctx, tx, now, ended)
}

// Lock locks the jobs in id order, then the groups of those that are bound by a
// limit and the groups given, by name, and returns the current definition of
// each job that exists. Ids may repeat.
func (p *Admitter) Lock(ctx context.Context, tx repository.Tx, ids []string,
	groups ...string,
) (map[string]*entity.Job, error) {
	jobs, err := p.lockJobs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	return jobs, LockGroups(ctx, tx, slices.Collect(maps.Values(jobs)), groups...)
}

// TryLock is Lock for jobs that nobody else has locked; the ids of those that
// somebody has are returned. For groups it waits.
func (p *Admitter) TryLock(ctx context.Context, tx repository.Tx, ids []string,
	groups ...string,
) (jobs map[string]*entity.Job, locked []string, err error) {
	var heads []repository.JobHead
	if len(ids) > 0 {
		if heads, locked, err = tx.Jobs.TryLock(ctx, ids); err != nil {
			return nil, nil, err
		}
	}
	if jobs, err = p.definitionsOf(ctx, tx, heads); err != nil {
		return nil, nil, err
	}
	return jobs, locked, LockGroups(ctx, tx, slices.Collect(maps.Values(jobs)), groups...)
}

func (p *Admitter) lockJobs(ctx context.Context, tx repository.Tx, ids []string) (map[string]*entity.Job, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	heads, err := tx.Jobs.Lock(ctx, ids)
	if err != nil {
		return nil, err
	}
	return p.definitionsOf(ctx, tx, heads)
}

// definitionsOf are the current definitions of locked jobs.
func (p *Admitter) definitionsOf(ctx context.Context, tx repository.Tx,
	heads []repository.JobHead,
) (jobs map[string]*entity.Job, err error) {
	jobs = make(map[string]*entity.Job, len(heads))
	for _, h := range heads {
		def := p.defs.Cached(h.ID, h.Version)
		if def == nil {
			if def, err = tx.Jobs.LockFull(ctx, h.ID); err != nil {
				return nil, fmt.Errorf("load locked job %s: %w", h.ID, err)
			}
			p.defs.Keep(def)
		}
		job := *def
		job.NextFireTime, job.DueTime, job.Status, job.FenceSeq = h.NextFireTime, h.DueTime, h.Status, h.FenceSeq
		jobs[h.ID] = &job
	}
	return jobs, nil
}
