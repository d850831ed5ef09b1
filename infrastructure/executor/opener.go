package executor

import (
	"context"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
)

// Opener is the executor of workflows: it lets a workflow run begin, whose steps are executions of their own.
type Opener struct{ validate.Checker }

// Run implements Executor.
func (*Opener) Run(context.Context, entity.Run, entity.Reporter) entity.Outcome {
	return entity.Opened()
}

// Steps checks the work of steps by the executors that run it.
type Steps struct{ Of Checker }

// Check implements validate.Work. Approvals, waits and named jobs are checked elsewhere.
func (s Steps) Check(step *wf.Step) []apperror.Field {
	kind := step.Kind()
	if kind != wf.KindHTTP && kind != wf.KindCommand && kind != wf.KindCustom {
		return nil
	}
	job, err := wf.StepJob(&entity.Job{}, step)
	if err != nil {
		return []apperror.Field{{Field: string(kind), Code: validation.CodeInvalid, Message: err.Error()}}
	}
	if job.Data == "" {
		job.Data = "{}"
	}
	found := s.Of.Check(job)
	for i := range found {
		found[i].Field = fieldOfStep(kind, found[i].Field)
	}
	return found
}

// fieldOfStep is a field of a job as it is named in a step.
func fieldOfStep(kind wf.Kind, field string) string {
	data := string(kind)
	if kind == wf.KindCustom {
		data += ".data"
	}
	switch inside, ok := validate.Within(field); {
	case ok:
		return data + "." + inside
	case field == validation.DataField:
		return data
	case strings.HasPrefix(field, "jobClass"):
		return string(kind) + "." + field
	case field == "jobType":
		return string(kind)
	}
	return field
}
