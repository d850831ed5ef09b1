package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// StepJob is the definition by which the executions of a step run. Nothing coordinates them.
func StepJob(job *entity.Job, step *Step) (*entity.Job, error) {
	s := &entity.Job{
		ID: StepID(job.ID, step.Name), Name: job.Name + "/" + step.Name, Group: job.Group, Owner: job.Owner,
		Labels: job.Labels, Status: entity.JobEnabled, Version: job.Version, Parameters: job.Parameters,
		Schedule: schedule.Spec{Kind: schedule.None, TimeZone: job.Schedule.TimeZone},
		Priority: cmp.Or(step.Priority, job.Priority), TimeoutSec: step.Limit(), StartDeadlineSec: step.StartDeadlineSec,
		Overlap: entity.OverlapParallel, OnNodeLoss: entity.NodeLossRetry,
		Routing: entity.Routing{Strategy: entity.RouteAny},
	}
	if step.RetryPolicy != nil {
		s.Retry = *step.RetryPolicy
	}
	switch step.Kind() {
	case KindHTTP:
		s.Type, s.Data = entity.JobHTTP, string(step.HTTP)
	case KindCommand:
		s.Type, s.Data = entity.JobCommand, string(step.Command)
	case KindCustom:
		s.Type, s.Class, s.Data = entity.JobCustom, step.Custom.JobClass, string(step.Custom.Data)
	case KindWait:
		data, _ := json.Marshal(step.Wait) // numbers and texts always marshal
		s.Type, s.Data = WaitType, string(data)
	case KindJob:
		s.ID = step.Job.ID // of the job itself no more than this is used
		if s.ID == "" {
			return nil, fmt.Errorf("the step %s names a job, and its id is not known", step.Name)
		}
	case KindApproval:
		s.Type = ApprovalType // people do it
	default:
		return nil, fmt.Errorf("the step %s says nothing to do", step.Name)
	}
	return s, nil
}
