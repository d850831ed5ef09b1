package request

import (
	"fmt"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// WorkerJobs is the body of POST /workers/{id}/jobs.
type WorkerJobs struct {
	Epoch int64 `json:"epoch" minimum:"1"`
	// Jobs have the fields of JobBody without enabled and next. jobType is CUSTOM and routing.workers the worker group, or
	// left out. group may be left out where the worker group has one job group. jobClass is a handler of the worker.
	Jobs []map[string]any `json:"jobs" swaggertype:"array,object" maxItems:"100" validate:"required"`
}

// Declared reads the jobs that a worker of the group declares. The error is for the call; what is wrong with a job
// stands there, under the names that its fields have in the job.
func (r JobReader) Declared(req *http.Request, group entityworker.Group) (
	epoch int64, jobs []definition.Definition, err error,
) {
	o, err := parse(req, false)
	if err != nil {
		return 0, nil, err
	}
	f := &faults{}
	b := newBinder(o, f)
	epoch, _ = b.integer("epoch", 64)
	f.within("epoch", epoch, 1, maxExact)
	items, _ := typed[[]any](b, "jobs", "an array of objects")
	switch {
	case len(items) > worker.MaxDeclared:
		f.add("jobs", "too_many", "must be at most %d jobs; send the rest with another call", worker.MaxDeclared)
		items = nil
	case len(items) == 0 && !f.has("jobs"):
		f.add("jobs", "required", "name the jobs that are to be there")
	}
	for i, item := range items {
		one, isObject := item.(*object)
		if !isObject {
			b.wrongType(fmt.Sprintf("jobs[%d]", i), "an object", item)
			continue
		}
		jobs = append(jobs, r.declared(one, group))
	}
	return epoch, jobs, apperror.Invalid(f.list)
}

// declared reads one job. It is strict, unlike the rest of what workers send: a field that is passed over would make
// another job than the one that was meant.
func (r JobReader) declared(o *object, group entityworker.Group) definition.Definition {
	var f faults
	body := bind[JobSettings](newBinder(o, &f))
	if body.JobType == "" && !f.has("jobType") {
		body.JobType = string(entity.JobCustom)
	}
	if body.Group == nil && len(group.JobGroups) == 1 {
		body.Group = &group.JobGroups[0]
	}
	if body.Routing.Workers == "" && !f.has("routing.workers") {
		body.Routing.Workers = group.Name
	}
	job := body.job(r.TimeZone)
	d := definition.Definition{Job: job}
	for _, field := range merge(f.list, r.findings(job, "", r.Now())) {
		if !past(field) { // the job is CREATED, without a plan
			d.Wrong = append(d.Wrong, field)
		}
	}
	return d
}
