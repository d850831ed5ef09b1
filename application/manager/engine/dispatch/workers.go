package dispatch

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// Workers reads workers; see repository.WorkerReader.
type Workers interface {
	WorkersOf(ctx context.Context, group string, limit int) ([]worker.Worker, error)
}

// WorkerGroups reads worker groups.
type WorkerGroups interface {
	// WorkerGroup is one; apperror.KindNotFound where there is none.
	WorkerGroup(ctx context.Context, name string) (worker.Group, error)
}

const (
	// membersFor is how long what was read of a worker group counts.
	membersFor = 2 * time.Second
	// setAsideAfter is how long a run waits for any worker of its group before it is shown as one that none can take.
	setAsideAfter = 5 * time.Second
)

// members are the workers of a group, and whom it serves, as they were read at a moment.
type members struct {
	at      time.Time
	group   worker.Group
	workers []worker.Worker
}

// of are the workers that run a job; a worker group may have stopped to serve its group, or to run commands.
func (m members) of(job *entity.Job) []worker.Worker {
	if !m.group.Runs(job) {
		return nil
	}
	return m.workers
}

// readMembers reads the worker groups of jobs that are not fresh. Where the store does not answer, what was known
// before counts.
func (r *Router) readMembers(ctx context.Context, jobs []*entity.Job, which func(job *entity.Job) bool) {
	for _, job := range jobs {
		if job == nil || job.Routing.Workers == "" || !which(job) {
			continue
		}
		group, now := job.Routing.Workers, r.Now()
		r.mu.Lock()
		known, ok := r.members[group]
		r.mu.Unlock()
		if age := now.Sub(known.at); ok && age >= 0 && age < membersFor {
			continue
		}
		row, err := r.Groups.WorkerGroup(ctx, group)
		if err != nil && !apperror.Is(err, apperror.KindNotFound) {
			return
		}
		workers, err := r.Workers.WorkersOf(ctx, group, worker.MaxChoice)
		if err != nil {
			return
		}
		r.mu.Lock()
		if len(r.members) >= maxUsage {
			clear(r.members)
		}
		r.members[group] = members{at: now, group: row, workers: workers}
		r.mu.Unlock()
	}
}

// asksMembers reports whether the strategy of the job chooses among workers.
func asksMembers(job *entity.Job) bool { return job.Routing.Strategy != entity.RouteAny }

// routeToWorker is Route for a job of a worker group. One that any worker may take waits in the queue of its class.
// There it stays also while no worker is fit, for a while: a group that restarts is no trouble.
func (r *Router) routeToWorker(job *entity.Job, exec *entity.Execution, fire int64, class entity.NodeClass,
) admission.Placement {
	at := func(q entity.Queue) admission.Placement {
		return admission.Placement{Queue: q, Away: true, Workers: class.Workers}
	}
	if exec.NodeID != "" {
		return at(entity.NodeQueue(exec.NodeID, class.Kind()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	read, known := r.members[class.Workers]
	former := exec.Claim.Queue()
	if !known && former != "" && former != entity.CommonQueue {
		return at(former) // nothing is known: it stays where it is
	}
	if !known {
		return at(entity.ClassQueue(class))
	}
	workers := read.of(job)
	missing := routing.UnfitWorkers(class, workers)
	if missing != entity.WaitNone {
		since, waits := exec.Claim.FairTime()
		if !waits || r.Now().Sub(since) < setAsideAfter {
			return at(entity.ClassQueue(class))
		}
		return at(entity.UnroutableQueue(class, missing))
	}
	id, ok := r.choose(job.Routing.Strategy, job, exec, fire, r.workerCandidates(class, workers))
	if !ok || id == "" {
		return at(entity.ClassQueue(class))
	}
	return at(entity.NodeQueue(id, class.Kind()))
}

// workerCandidates are the workers that are fit for the class, with what was given to them; the caller holds the lock.
func (r *Router) workerCandidates(class entity.NodeClass, workers []worker.Worker) []routing.Candidate {
	var out []routing.Candidate
	for i := range workers {
		w := &workers[i]
		if routing.MissingWorker(class, w) != entity.WaitNone {
			continue
		}
		c := routing.WorkerCandidate(w, class.Kind(), r.Now())
		if g := r.given[w.ID]; g.beat.Equal(w.LastBeat) {
			c.Running += g.runs[class.Kind()]
		}
		out = append(out, c)
	}
	return out
}
