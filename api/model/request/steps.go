package request

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
)

// entry is a job of a document, as it was read.
type entry struct {
	job     *entity.Job
	enabled *bool
	// definition is that of a workflow; nil for other jobs.
	definition *wf.Definition
	// top: its steps stand beside the fields of the job, and not in jobData.
	top bool
	// wrong is everything that is wrong with it, by its place in the document.
	wrong []apperror.Field
}

// entry reads a job of a document. A workflow has its steps in jobData, or beside its other fields.
func (r JobReader) entry(b *binder, now time.Time) (e entry) {
	var body JobBody
	if _, e.top = b.object.fields["steps"]; e.top {
		both := bind[WorkflowBody](b)
		body = both.JobBody
		if t := body.JobType; t != "" && t != string(entity.JobWorkflow) {
			b.faults.add(join(b.path, "jobType"), "unknown_value", "must be %s for a job with steps, or left out",
				entity.JobWorkflow)
		}
		if b.object.fields["jobData"] != nil {
			b.faults.add(join(b.path, validation.DataField), validation.CodeConflict,
				"the data of a workflow stand in its steps; put them there")
		}
		body.JobType = string(entity.JobWorkflow)
		e.definition = both.definition(body.TimeoutSec)
	} else {
		body = bind[JobBody](b)
	}
	e.job, e.enabled = body.job(r.TimeZone), body.Enabled
	if e.job.Type == entity.JobWorkflow && !e.top {
		e.definition = bindSteps(b, e.job.TimeoutSec)
	}
	e.wrong = merge(b.faults.list, within(b.path, e.places(r.checked(e.job, e.definition, b, now))))
	return e
}

// checked puts the steps of a workflow into a job, and says what is wrong with it. Where entries of lists were left
// out, nobody checks the steps: a check would count the rest wrongly.
func (r JobReader) checked(job *entity.Job, steps *wf.Definition, b *binder, now time.Time) []apperror.Field {
	if steps != nil {
		text, err := json.Marshal(steps)
		if err != nil {
			b.faults.add(join(b.path, validation.DataField), validation.CodeInvalid, "cannot be kept as JSON")
		}
		job.Data = string(text)
		data := join(b.path, validation.DataField)
		if slices.ContainsFunc(b.faults.list, func(f apperror.Field) bool {
			return misplaced(f) || f.Field == data && f.Code == codeWrongType
		}) {
			r.Checker = nil
		}
	}
	return r.findings(job, b.path, now)
}

// bindSteps reads the data of a workflow.
func bindSteps(b *binder, timeoutSec int) *wf.Definition {
	var body StepsBody
	if _, is := b.object.fields[validation.DataField].(*object); !is {
		return body.definition(timeoutSec) // it is absent, or said to be wrong already
	}
	b.nested(validation.DataField, func(b *binder) {
		b.places, b.base = placesOf(reflect.TypeFor[StepsBody]()), b.path
		b.into(reflect.ValueOf(&body).Elem())
	})
	return body.definition(timeoutSec)
}

// places are fields as they are named where the steps stand beside the other fields.
func (e *entry) places(fields []apperror.Field) []apperror.Field {
	if !e.top {
		return fields
	}
	for i, f := range fields {
		if inside, ok := validate.Within(f.Field); ok {
			fields[i].Field = inside
		}
	}
	return fields
}

// misplaced says of a wrong entry of a list that it was left out, so that those behind it count one less.
func misplaced(f apperror.Field) bool { return strings.HasSuffix(f.Field, "]") }
