package placeholder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Sample stands for what is not known yet when a definition is checked.
const Sample = "placeholder-sample"

// layout is how times are written without a format, as everywhere in the API.
const layout = "2006-01-02T15:04:05.000Z07:00"

// Values are what placeholders stand for. They belong to one goroutine.
type Values struct {
	run    entity.Run
	params map[string]json.RawMessage
	read   bool
	sample bool
}

// Of are the values of a run. Its secrets must have been opened.
func Of(run entity.Run) *Values { return &Values{run: run} }

// Samples stand for the values of some run of a job, to check its definition:
// whoever saves it learns at once of a name that does not exist.
func Samples(job *entity.Job) *Values {
	return &Values{sample: true, run: entity.Run{Job: job, Execution: &entity.Execution{ID: Sample, ScheduledTime: time.Unix(0, 0).UTC(), Attempt: 1}}}
}

func (v *Values) of(ref *reference) (string, error) {
	x, job := v.run.Execution, v.run.Job
	switch ref.name {
	case "scheduledTime":
		zone, err := time.LoadLocation(job.Schedule.TimeZone)
		if err != nil {
			zone = time.UTC
		}
		return ref.moment.write(x.ScheduledTime, zone)
	case "executionId":
		return x.ID, nil
	case "jobId":
		return job.ID, nil
	case "jobName":
		return job.Name, nil
	case "group":
		return job.Group, nil
	case "owner":
		return job.Owner, nil
	case "attempt":
		return strconv.Itoa(x.Attempt), nil
	case "shardIndex":
		return strconv.Itoa(x.ShardIndex), nil
	case "shardTotal":
		return strconv.Itoa(max(x.ShardTotal, 1)), nil
	case "idempotencyKey":
		return x.IdempotencyKey(), nil
	case "deadline":
		return v.deadline(), nil
	case "checkpoint":
		return v.checkpoint(), nil
	case allParams:
		return cmp.Or(x.Params, "{}"), nil
	case "param":
		return v.param(ref)
	default:
		return v.secret(ref.key)
	}
}

func (v *Values) deadline() string {
	if v.run.Deadline.IsZero() && !v.sample {
		return ""
	}
	return v.run.Deadline.UTC().Format(layout)
}

func (v *Values) checkpoint() string {
	if v.sample {
		return Sample
	}
	return v.run.Execution.Checkpoint
}

func (v *Values) secret(name string) (string, error) {
	if v.sample {
		return Sample, nil
	}
	if value, known := v.run.Secrets[name]; known {
		return value, nil
	}
	return "", &Error{secret: true, text: fmt.Sprintf("there is no secret named %s for the jobs of the group %s; make it, or have the group added to it, under /api/v1/secrets", name, v.run.Job.Group)}
}

// param is a parameter of the run: a text as it is, anything else as its JSON.
func (v *Values) param(ref *reference) (string, error) {
	if v.sample {
		return Sample, nil
	}
	if !v.read {
		v.read = true
		// Parameters were checked to be an object when the run was made.
		_ = json.Unmarshal([]byte(v.run.Execution.Params), &v.params)
	}
	raw, given := v.params[ref.key]
	if !given || string(raw) == "null" {
		if ref.fallback != nil {
			return *ref.fallback, nil
		}
		return "", wrong("the run was not given the parameter %s; give it, or a default with ${params.%s:-default}", ref.key, ref.key)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	return string(raw), nil
}
