package chain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Named is a job that another one names.
type Named struct {
	// Field is where it stands in the definition, such as next[0].job.
	Field string
	// Name is group/name, or a name in the group of the job that names it. ID is that of the job which had the name; empty
	// where nobody has looked it up.
	Name, ID string
	// Step says that a step of a workflow starts it, and waits for its end.
	Step bool
}

// NamesOf are the jobs that a job names: those that follow it, and those that its steps start.
func NamesOf(job *entity.Job) (named []Named) {
	for i, n := range job.Next {
		named = append(named, Named{Field: fmt.Sprintf("next[%d].job", i), Name: n.Name, ID: n.Job})
	}
	if d := stepsWithJobs(job); d != nil {
		for i := range d.Steps {
			if j := d.Steps[i].Job; j != nil {
				named = append(named, Named{
					Field: fmt.Sprintf("jobData.steps[%d].job.name", i), Name: j.Name, ID: j.ID, Step: true,
				})
			}
		}
	}
	return named
}

// FieldOf is the field by which a job starts others.
func FieldOf(job *entity.Job) string {
	if len(job.Next) == 0 && job.Type == entity.JobWorkflow {
		return "jobData.steps"
	}
	return "next"
}

// SetNames puts names and ids into a job, in the order in which NamesOf gives them. Lists that others may read stay as
// they are.
func SetNames(job *entity.Job, named []Named) {
	job.Next = slices.Clone(job.Next)
	for i := range job.Next {
		job.Next[i].Name, job.Next[i].Job = named[i].Name, named[i].ID
	}
	named = named[len(job.Next):]
	if len(named) == 0 {
		return
	}
	d := stepsWithJobs(job)
	for i := range d.Steps {
		if j := d.Steps[i].Job; j != nil {
			j.Name, j.ID, named = named[0].Name, named[0].ID, named[1:]
		}
	}
	text, err := json.Marshal(d)
	if err == nil { // what was read from JSON is JSON
		job.Data = string(text)
	}
}

// WithoutIDs are the data of a job as people write them: steps name jobs, and their ids are left out.
func WithoutIDs(job *entity.Job) string {
	d := stepsWithJobs(job)
	if d == nil {
		return job.Data
	}
	for i := range d.Steps {
		if j := d.Steps[i].Job; j != nil {
			j.ID = ""
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return job.Data // what was read from JSON is JSON
	}
	return string(text)
}

// stepsWithJobs is the definition of a workflow whose steps may start jobs; nil for other jobs, and for one that cannot
// be read.
func stepsWithJobs(job *entity.Job) *wf.Definition {
	if job.Type != entity.JobWorkflow || !strings.Contains(job.Data, `"job"`) {
		return nil
	}
	d, err := wf.Of(job)
	if err != nil {
		return nil
	}
	return d
}

// Commands reports whether a job runs commands: by itself, or in one of its steps.
func Commands(job *entity.Job) bool {
	if job.Type != entity.JobWorkflow || !strings.Contains(job.Data, `"command"`) {
		return job.Type == entity.JobCommand
	}
	d, err := wf.Of(job)
	return err == nil && slices.ContainsFunc(d.Steps, func(s wf.Step) bool { return s.Command != nil })
}
