// Package cache keeps definitions that are read often. The store stays the truth.
package cache

import (
	"container/list"
	"context"
	"maps"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// JobCache keeps definitions by id and version, and drops the least recently used first. They
// hold what is needed to plan and run jobs: no descriptions, labels or owners. A reader that
// must be current asks the store for the version, which is a short read by primary key. It
// reads the definition only when the version is new. Safe for concurrent use; callers must not
// change cached jobs.
type JobCache struct {
	jobs  repository.JobReader
	limit int
	// steps finds the definitions of steps of workflow runs, by the id of the execution.
	steps func(ctx context.Context, steps []*entity.Execution) (map[string]*entity.Job, error)

	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List
}

// NewJobCache returns an empty cache of at most limit definitions.
func NewJobCache(jobs repository.JobReader, limit int) *JobCache {
	return &JobCache{jobs: jobs, limit: limit, byID: map[string]*list.Element{}, order: list.New()}
}

// Cached returns the definition of a version, or nil.
func (c *JobCache) Cached(id string, version int) *entity.Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.byID[id]
	if el == nil || el.Value.(*entity.Job).Version != version {
		return nil
	}
	c.order.MoveToFront(el)
	return el.Value.(*entity.Job)
}

// Latest returns the latest cached definition of a job, or nil. It may be out of date.
func (c *JobCache) Latest(id string) *entity.Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.byID[id]; el != nil {
		return el.Value.(*entity.Job)
	}
	return nil
}

// Keep stores a definition, unless the cache has a newer version.
func (c *JobCache) Keep(job *entity.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.byID[job.ID]; el != nil {
		if el.Value.(*entity.Job).Version <= job.Version {
			el.Value = job
		}
		c.order.MoveToFront(el)
		return
	}
	c.byID[job.ID] = c.order.PushFront(job)
	for c.order.Len() > c.limit {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byID, last.Value.(*entity.Job).ID)
	}
}

// Load returns the current definitions of those ids that exist. Ids may repeat.
func (c *JobCache) Load(ctx context.Context, ids []string) (map[string]*entity.Job, error) {
	ids = distinct(ids)
	if len(ids) == 0 {
		return map[string]*entity.Job{}, nil
	}
	versions, err := c.jobs.Versions(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*entity.Job, len(versions))
	var missing []string
	for id, version := range versions {
		if job := c.Cached(id, version); job != nil {
			found[id] = job
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	read, err := c.jobs.ByIDs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, job := range read {
		c.Keep(job)
		found[job.ID] = job
	}
	return found, nil
}

// Steps says who finds the definitions of steps, before the cache is used; without that it knows none.
func (c *JobCache) Steps(find func(ctx context.Context, steps []*entity.Execution) (map[string]*entity.Job, error)) {
	c.steps = find
}

// For returns what executions go by. Executions that are no steps cost what Load of their jobs costs.
func (c *JobCache) For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error) {
	ids := make([]string, 0, len(execs))
	var steps []*entity.Execution
	for _, e := range execs {
		if e.Inline() {
			steps = append(steps, e)
		} else {
			ids = append(ids, e.JobID)
		}
	}
	found, err := c.Load(ctx, ids)
	if err != nil || len(steps) == 0 || c.steps == nil {
		return found, err
	}
	ofSteps, err := c.steps(ctx, steps)
	if err != nil {
		return nil, err
	}
	maps.Copy(found, ofSteps)
	return found, nil
}

// Len returns the number of cached definitions.
func (c *JobCache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

func distinct(ids []string) []string {
	seen := make(map[string]struct{}, len(ids))
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if _, ok := seen[id]; !ok {
			seen[id] = struct{}{}
			out = append(out, id)
		}
	}
	return out
}
