package placeholder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
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
	// steps are those of a step of a workflow; nil for all other runs.
	steps *Steps
}

// Of are the values of a run. Its secrets must have been opened.
func Of(run entity.Run) *Values { return &Values{run: run, steps: run.Steps} }

// Filled reports whether the texts have their values already. Expand leaves them as they are.
func (v *Values) Filled() bool { return v != nil && v.run.Filled }

// Samples are the values of some run of a job, to check its definition. So a user learns
// of an unknown name when saving the job. The values of a step know what other steps hand on.
func Samples(job *entity.Job) *Values {
	at := time.Unix(0, 0).UTC()
	var steps *Steps
	if identity.IsStepID(job.ID) {
		steps = &Steps{}
	}
	return &Values{sample: true, steps: steps, run: entity.Run{
		Job: job, Execution: &entity.Execution{ID: Sample, ScheduledTime: at, Attempt: 1, Checkpoint: Sample}, Deadline: at,
	}}
}

// of is what a placeholder stands for.
func (v *Values) of(ref *reference) (value, error) {
	if ref.step != nil {
		return v.step(ref)
	}
	if v.sample && (ref.name == oneParam || ref.name == oneSecret) {
		return value{placeholder: ref.text, text: Sample, sample: true, open: true, known: v.known(ref)}, nil
	}
	text, err := v.text(ref)
	out := value{placeholder: ref.text, text: text, sample: v.sample}
	if err != nil && ref.name == oneParam && string(v.params[ref.key]) == null {
		out.text, out.missing, err = null, err, nil
	}
	return out, err
}

// null is the null of JSON.
const null = "null"

// known is what a parameter stands for where the run is given nothing, or what it is like, as far as
// the definition says.
func (v *Values) known(ref *reference) []string {
	if ref.name != oneParam {
		return nil
	}
	for _, p := range v.run.Job.Parameters {
		switch {
		case p.Name != ref.key:
		case len(p.Default) > 0 && string(p.Default) != null:
			return []string{textOf(p.Default)}
		case p.Type == entity.ParameterDate || p.Type == entity.ParameterDateTime:
			return []string{v.run.Execution.ScheduledTime.Format(time.DateOnly)}
		}
	}
	if ref.fallback != nil {
		return []string{*ref.fallback}
	}
	return nil
}

func (v *Values) text(ref *reference) (string, error) {
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
	if value, known := v.run.Secrets[name]; known {
		return value, nil
	}
	return "", &Error{
		secret: true,
		text: fmt.Sprintf("there is no secret named %s for the jobs of the group %s; make it, or have the group added to "+
			"it, under /api/v1/secrets", name, v.run.Job.Group),
	}
}

// param is a parameter of the run.
func (v *Values) param(ref *reference) (string, error) {
	if !v.read {
		v.read = true
		// Parameters were checked to be an object when the run was made.
		_ = json.Unmarshal([]byte(v.run.Job.WithDefaults(v.run.Execution.Params)), &v.params)
	}
	raw, given := v.params[ref.key]
	if !given || string(raw) == null {
		if ref.fallback != nil {
			return *ref.fallback, nil
		}
		return "", wrong("the run was not given the parameter %s; give it, or a default with ${params.%s:-default}", ref.key,
			ref.key)
	}
	return textOf(raw), nil
}

// textOf is a JSON value as a text: a string as it is, anything else as its JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
