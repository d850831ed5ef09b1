// Package workflow starts the jobs that follow others. A row, stored with the end, holds what that owes; the follower
// pays it in one transaction with what it starts (docs/chains.md).
package workflow

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// Owed is the observer of ends that adds what they owe. The completion of an attempt has looked at the definition; for
// other ends it asks one in memory.
type Owed struct {
	// Cached is the definition of a job at a version, or nil where this node does not hold it; it must not wait.
	Cached func(id string, version int) *entity.Job
}

// Ended implements event.EndObserver. Where the definition is not held, the row is added, and the follower finds out.
func (o Owed) Ended(ended []*entity.Execution, now time.Time) (rows event.EndRows) {
	for _, e := range ended {
		// Nothing follows, nothing ended, no definition is known, or a workflow run goes on by it.
		if e.OwesNothing || e.IsRange() || e.JobVersion == 0 || e.Inline() {
			continue
		}
		if job := o.Cached(e.JobID, e.JobVersion); job != nil && !chain.MayOwe(job, e) {
			continue
		}
		rows.Todos = append(rows.Todos, entity.Todo{Run: e.ID, Kind: entity.TodoNext, Time: now})
	}
	return rows
}
