package request

import (
	"context"
	"fmt"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
)

// WorkflowBody is a workflow as a job of a document.
type WorkflowBody struct {
	StepsBody
	JobBody
}

// Workflow is a workflow as it stands in a document.
type Workflow struct {
	// Job is what it has in common with other jobs.
	Job        *entity.Job
	Definition *wf.Definition
	// Faults are all its wrong fields, by their places in the document; Warnings keep nobody from saving it.
	Faults, Warnings []apperror.Field

	path  string
	entry entry
}

// WorkflowReader reads workflows from documents. It is safe for concurrent use if its parts are.
type WorkflowReader struct{ JobReader }

// Read reads each workflow of a text: a document with workflows or jobs, or one workflow; as YAML, also several between
// ---, or as JSON. Jobs without steps are left alone. The error is for a text that cannot be read.
func (r WorkflowReader) Read(ctx context.Context, text []byte) (all []Workflow, err error) {
	documents, err := yamljson.AllFromYAML(text)
	if err != nil {
		return nil, fmt.Errorf("it is no YAML as it is read here: %w", err)
	}
	for _, document := range documents {
		if string(document) == "null" { // an empty one, such as after a last ---
			continue
		}
		o, err := decode(ctx, document, maxValues)
		if err != nil {
			return nil, err
		}
		found, err := r.document(o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it holds no workflow; give a document {version: 1, workflows: [{name, steps}]}, or a " +
			"workflow {name, steps}")
	}
	return all, nil
}

func (r WorkflowReader) document(o *object) (all []Workflow, err error) {
	var f faults
	b := newBinder(o, &f)
	if _, one := o.fields["steps"]; one || o.fields["jobType"] == string(entity.JobWorkflow) {
		return []Workflow{r.workflow(b)}, nil
	}
	bindVersion(b)
	b.ignore("groups", "alerting")
	taken := takenNames{}
	for _, list := range []string{"workflows", "jobs"} {
		b.each(list, func(_ int, entry *binder) bool {
			if _, steps := entry.object.fields["steps"]; list == "jobs" && !steps &&
				entry.object.fields["jobType"] != string(entity.JobWorkflow) {
				return true
			}
			w := r.workflow(entry)
			w.Faults = merge(w.Faults, taken.by(entry, w.Job))
			all = append(all, w)
			return true
		})
	}
	b.close()
	return all, apperror.Invalid(f.list)
}

// workflow reads one workflow.
func (r WorkflowReader) workflow(b *binder) Workflow {
	e := r.entry(b, r.Now())
	w := Workflow{Job: e.job, Definition: e.definition, Faults: e.wrong, path: b.path, entry: e}
	if w.Definition == nil {
		w.Definition = &wf.Definition{}
	}
	if len(w.Faults) == 0 { // looked at once more: the other doors, which share the first look, have no use for warnings
		w.Warnings = w.Places(validate.Job(e.job, validate.Ports{}).Warnings)
	}
	return w
}

// Places are fields of the job as they are named in the document.
func (w *Workflow) Places(fields []apperror.Field) []apperror.Field {
	return within(w.path, w.entry.places(fields))
}

// Validate reads the body of POST /workflows/validate, as YAML or JSON.
func (r WorkflowReader) Validate(req *http.Request) ([]Workflow, error) {
	o, err := parseDocument(req)
	if err != nil {
		return nil, err
	}
	found, err := r.document(o)
	if err == nil && len(found) == 0 {
		err = apperror.InvalidField("workflows", "required", "the body holds no workflow; send a document {version: 1, "+
			"workflows: [{name, steps}]}, or a workflow {name, steps}")
	}
	return found, err
}
