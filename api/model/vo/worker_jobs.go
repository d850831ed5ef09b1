package vo

import (
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// WorkerDeclared is what became of the jobs that a worker has declared, in the order of the call.
type WorkerDeclared struct {
	Jobs []WorkerDeclaredJob `json:"jobs"`
}

// WorkerDeclaredJob is what became of one.
type WorkerDeclaredJob struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// ID is that of the job that is there; empty for one that is refused.
	ID string `json:"id"`
	// Outcome EXISTS is a job that is as declared, DIFFERS one that is not: it stays as it is.
	Outcome definition.Outcome `json:"outcome" enums:"CREATED,EXISTS,DIFFERS,REFUSED"`
	// Differs names the fields in which the job that is there differs.
	Differs []string `json:"differs"`
	// Errors say why a job is refused, and what to do.
	Errors []WorkerDeclaredFault `json:"errors"`
}

// WorkerDeclaredFault is a wrong field of a job.
type WorkerDeclaredFault struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// FromDeclared makes the answer to a declaration.
func FromDeclared(jobs []definition.Declared) WorkerDeclared {
	return WorkerDeclared{Jobs: convert.All(jobs, func(d definition.Declared) WorkerDeclaredJob {
		job := d.Change.Job()
		v := WorkerDeclaredJob{
			Group: job.Group, Name: job.Name, ID: job.ID, Outcome: d.Outcome, Differs: []string{},
			Errors: []WorkerDeclaredFault{},
		}
		if d.Outcome == definition.OutcomeDiffers {
			v.Differs = slices.Sorted(maps.Keys(EntryChanges(d.Change.Before, d.Change.After)))
		}
		for _, f := range d.Wrong {
			v.Errors = append(v.Errors, WorkerDeclaredFault{f.Field, f.Code, f.Message})
		}
		return v
	})}
}
