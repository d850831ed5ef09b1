package admission

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// Live is what the next fires of one job must know of those that are not final.
// Admit keeps it up to date over the fires of one transaction. The nil Live is
// that of a job that admits every fire.
type Live struct {
	active int
	// first is the number of the first fire that waits; 0 when none does. From it
	// to the latest fire are at least as many as wait: some may have left the
	// queue from its midst.
	first int64
	// queued is the length of the queue where it was counted.
	queued  int
	counted bool
	// added are the fires of this transaction, which the store does not hold yet.
	added []newFire
}

// newFire is a fire that was admitted and is to be stored.
type newFire struct {
	inFlight entity.InFlightFire
	execs    []*entity.Execution
}

// LiveOf reads what is to be known of the locked jobs' fires, by job; a job
// without a limit of its own admits every fire.
func LiveOf(ctx context.Context, tx repository.Tx, jobs ...*entity.Job) (map[string]*Live, error) {
	var bounded []string
	for _, job := range jobs {
		if job.FireLimit() > 0 {
			bounded = append(bounded, job.ID)
		}
	}
	if len(bounded) == 0 {
		return nil, nil
	}
	counts, err := tx.InFlightFires.Count(ctx, bounded)
	if err != nil {
		return nil, fmt.Errorf("count in-flight fires: %w", err)
	}
	live := make(map[string]*Live, len(counts))
	for id, c := range counts {
		live[id] = &Live{active: c.Active, first: c.FirstQueued, counted: c.FirstQueued == 0}
	}
	return live, nil
}

// length is that of the queue, or more.
func (l *Live) length(job *entity.Job) int {
	if l.counted {
		return l.queued
	}
	return int(max(job.FenceSeq-l.first+1, 1))
}

// decide is overlap.Admit for one new fire. The queue is counted only where its
// length decides and is not known.
func (l *Live) decide(ctx context.Context, tx repository.Tx, job *entity.Job) (overlap.Decision, error) {
	if l == nil {
		return overlap.Admit(job.Overlap, job.FireLimit(), job.MaxQueued, 0, 0), nil
	}
	d := overlap.Admit(job.Overlap, job.FireLimit(), job.MaxQueued, l.active, l.length(job))
	if d.Action != overlap.Skip || l.counted {
		return d, nil
	}
	n, err := tx.InFlightFires.CountQueued(ctx, job.ID, max(job.MaxQueued, job.FireLimit()))
	if err != nil {
		return d, fmt.Errorf("count the queue of job %s: %w", job.ID, err)
	}
	l.queued, l.counted = n+len(l.addedAs(false)), true
	return overlap.Admit(job.Overlap, job.FireLimit(), job.MaxQueued, l.active, l.queued), nil
}

// take counts a fire that was admitted.
func (l *Live) take(inFlight entity.InFlightFire, execs []*entity.Execution) {
	if l == nil {
		return
	}
	if inFlight.Active {
		l.active++
	} else {
		l.queued++
	}
	l.added = append(l.added, newFire{inFlight, execs})
}

// Free reports whether one more fire of a job would start at once, and neither
// wait, be skipped nor end another one. l are the job's in-flight fires.
func (p *Admitter) Free(job *entity.Job, l *Live) bool {
	if !job.Coordinated() || l == nil {
		return true
	}
	return overlap.Free(job.Overlap, job.FireLimit(), l.active, l.length(job))
}
