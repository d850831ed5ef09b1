package workflowrun

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Graph is a version of a workflow with the definition that it holds.
type Graph struct {
	Job        *entity.Job
	Definition *wf.Definition
}

// Graph gives a version of a workflow; 0 is the current one.
func (s *Service) Graph(ctx context.Context, id string, version int) (*Graph, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if version != 0 && version != job.Version {
		former, err := repository.VersionOrNil(ctx, s.Jobs, id, version)
		if err != nil {
			return nil, err
		}
		if former == nil {
			return nil, apperror.InvalidField("version", "unknown", "the job has no such version; leave it out for the "+
				"current one")
		}
		job = former
	}
	if job.Type != entity.JobWorkflow {
		return nil, apperror.Conflict("no_workflow", "the job is of the type %s, and only one of the type %s has a graph",
			job.Type, entity.JobWorkflow)
	}
	def, err := wf.Of(job)
	if err != nil {
		return nil, apperror.Conflict("workflow_broken", "the steps of the workflow cannot be read: %s", err)
	}
	return &Graph{job, def}, nil
}
