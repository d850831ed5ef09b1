package dispatch

import (
	"context"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// Runs reads the latest runs of a job; see repository.ExecutionReader.
type Runs interface {
	Recent(ctx context.Context, jobID string, limit int) ([]*entity.Execution, error)
}

const (
	// history is how many of a job's latest runs count as its usage of nodes.
	history = 100
	// maxUsage bounds the jobs whose usage is remembered.
	maxUsage = 10_000
)

// needsUsage reports whether the job's strategy looks at its former runs.
func needsUsage(job *entity.Job) bool {
	switch job.Routing.Strategy {
	case entity.RouteLFU, entity.RouteLRU, entity.RouteBusyOver:
		return true
	}
	return false
}

// Prepare implements admission.Router: one look-up for each job whose
// strategy or handler asks for it, none for others. Where the store does not answer, what
// was known before counts.
func (r *Router) Prepare(ctx context.Context, jobs []*entity.Job) {
	r.readMembers(ctx, jobs, asksMembers)
	var read map[string]bool
	for _, job := range jobs {
		if job == nil || read[job.ID] || !needsUsage(job) && !r.needsProof(job) {
			continue
		}
		if read == nil {
			read = map[string]bool{}
		}
		read[job.ID] = true
		execs, err := r.Runs.Recent(ctx, job.ID, history)
		if err != nil {
			return
		}
		r.remember(job.ID, execs)
	}
}

// PrepareIDs implements admission.Router.
func (r *Router) PrepareIDs(ctx context.Context, ids []string) {
	jobs, err := r.Jobs.Load(ctx, ids)
	if err == nil {
		r.Prepare(ctx, slices.Collect(maps.Values(jobs)))
	}
}

func (r *Router) remember(jobID string, execs []*entity.Execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.usage) >= maxUsage {
		clear(r.usage)
		clear(r.proven)
	}
	r.usage[jobID], r.proven[jobID] = usageOf(execs), provenBy(execs)
}

// usageOf counts by node what runs, what ran, and what waits in its queue.
func usageOf(execs []*entity.Execution) map[string]routing.Usage {
	usage := map[string]routing.Usage{}
	for _, exec := range execs {
		id, last := exec.NodeID, exec.StartTime
		if exec.Status == entity.StatusWaiting {
			id, _ = exec.Claim.Queue().Node()
			last = exec.UpdateTime
		}
		if id == "" || last.IsZero() {
			continue
		}
		u := usage[id]
		u.Runs++
		if !exec.Status.Final() {
			u.Live++
		}
		if last.After(u.Last) {
			u.Last = last
		}
		usage[id] = u
	}
	return usage
}
