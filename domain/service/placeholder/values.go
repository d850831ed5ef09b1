package placeholder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
)

// Sample stands for what is not known yet when a definition is checked.
const Sample = "placeholder-sample"

// Values are what placeholders stand for. They belong to one goroutine.
type Values struct {
	run      entity.Run
	identity *runidentity.Identity
	params   map[string]json.RawMessage
	read     bool
	sample   bool
}

// Of are the values of a run. Its secrets must have been opened.
func Of(run entity.Run) *Values { return &Values{run: run} }

// Samples are the values of some run of a job, to check its definition. So a user learns
// of an unknown name when saving the job.
func Samples(job *entity.Job) *Values {
	at := time.Unix(0, 0).UTC()
	return &Values{sample: true, run: entity.Run{
		Job: job, Execution: &entity.Execution{ID: Sample, ScheduledTime: at, Attempt: 1, Checkpoint: Sample}, Deadline: at,
	}}
}

func (v *Values) of(ref *reference) (string, error) {
	switch ref.name {
	case scheduledTime:
		zone, err := time.LoadLocation(v.run.Job.Schedule.TimeZone)
		if err != nil {
			zone = time.UTC
		}
		return ref.moment.write(v.run.Execution.ScheduledTime, zone)
	case allParams:
		return cmp.Or(v.run.Job.WithDefaults(v.run.Execution.Params), "{}"), nil
	case oneParam:
		return v.param(ref)
	case oneSecret:
		return v.secret(ref.key)
	}
	if v.identity == nil {
		identity := runidentity.Of(v.run)
		v.identity = &identity
	}
	return v.identity.Text(runidentity.Name(ref.name)), nil
}

func (v *Values) secret(name string) (string, error) {
	if v.sample {
		return Sample, nil
	}
	if value, known := v.run.Secrets[name]; known {
		return value, nil
	}
	return "", &Error{
		secret: true,
		text: fmt.Sprintf("there is no secret named %s for the jobs of the group %s; make it, or have the group added to "+
			"it, under /api/v1/secrets", name, v.run.Job.Group),
	}
}

// param is a parameter of the run: a text as it is, anything else as its JSON.
func (v *Values) param(ref *reference) (string, error) {
	if v.sample {
		return Sample, nil
	}
	if !v.read {
		v.read = true
		// Parameters were checked to be an object when the run was made.
		_ = json.Unmarshal([]byte(v.run.Job.WithDefaults(v.run.Execution.Params)), &v.params)
	}
	raw, given := v.params[ref.key]
	if !given || string(raw) == "null" {
		if ref.fallback != nil {
			return *ref.fallback, nil
		}
		return "", wrong("the run was not given the parameter %s; give it, or a default with ${params.%s:-default}", ref.key,
			ref.key)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	return string(raw), nil
}
