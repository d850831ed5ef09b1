package app

import (
	commits "github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// engineEvents passes changes by the services to the loops.
type engineEvents struct{ e *Engine }

// JobChanged implements job.Engine.
func (n engineEvents) JobChanged(job *entity.Job) {
	n.e.Planner.JobChanged(job)
	n.e.cluster.announceJob(job)
	n.e.Live.JobChanged(job)
}

// AfterCommit implements job.Engine and execution.Engine.
func (n engineEvents) AfterCommit(effect commits.PostCommit) { n.e.Commits.AfterCommit(effect) }
