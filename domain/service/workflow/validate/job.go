package validate

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Job checks the steps of a workflow, which its data hold. The fields are those of the job.
func Job(job *entity.Job, ports Ports) Result {
	d, err := wf.Of(job)
	if err != nil {
		return Result{Faults: []apperror.Field{{
			Field: validation.DataField, Code: validation.CodeInvalid,
			Message: "holds no steps as they are read here: " + validation.Text(err.Error(), 200),
		}}}
	}
	found := Definition(d, ports)
	for _, list := range [][]apperror.Field{found.Faults, found.Warnings} {
		for i := range list {
			list[i].Field = validation.DataField + "." + list[i].Field
		}
	}
	return found
}

// Checker checks the steps of workflows as executors check the data of jobs.
type Checker struct{ Ports Ports }

// Check lists what is wrong, in the field names of the API.
func (c Checker) Check(job *entity.Job) []apperror.Field {
	if job.Type != entity.JobWorkflow {
		return nil
	}
	return Job(job, c.Ports).Faults
}

// Within reports whether a field is one of the data of a workflow, and its name there.
func Within(field string) (inside string, ok bool) {
	return strings.CutPrefix(field, validation.DataField+".")
}
