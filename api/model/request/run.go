package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxParams bounds the parameters of a trigger, in bytes of JSON.
const maxParams = bounds.ParamsBytes

// rawObject is an object of any fields, as compact JSON.
type rawObject string

// rawValue is a JSON value that is no object and no array, as JSON.
type rawValue string

// TriggerBody is the body of POST /jobs/{id}/trigger.
type TriggerBody struct {
	// Params is what ${params.NAME} stands for, at most 64 KiB. Of a job that declares
	// parameters it may name these alone, of their types.
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
	// ScheduledTime is what ${scheduledTime} stands for, now where it is absent.
	ScheduledTime time.Time `json:"scheduledTime,omitempty" format:"date-time"`
	// DelaySec puts the start off.
	DelaySec int `json:"delaySec,omitempty" minimum:"0" maximum:"31622400"`
}

// TraceContext is the header traceparent of a call; one that is not valid, or given more than once, is none.
func TraceContext(r *http.Request) entity.TraceContext {
	if given := r.Header.Values("traceparent"); len(given) == 1 {
		return entity.ReadTraceContext(given[0])
	}
	return ""
}

// ReadTrigger reads the body of POST /jobs/{id}/trigger, which may be empty.
func ReadTrigger(r *http.Request) (job.Trigger, error) {
	body, err := readAnyBody(r, func(body *TriggerBody, f *faults) {
		if len(body.Params) > maxParams {
			f.add("params", "too_long", "must be at most 64 KiB of JSON")
		}
		if body.DelaySec < 0 || body.DelaySec > job.MaxDelaySec {
			f.add("delaySec", "out_of_range", "must be from 0 to %d seconds", job.MaxDelaySec)
		}
	})
	return job.Trigger{Params: string(body.Params), ScheduledTime: body.ScheduledTime, DelaySec: body.DelaySec}, err
}

// TrialBody is the body of POST /jobs/trial: a draft as POST /jobs takes it, and params for its run.
type TrialBody struct {
	JobBody
	// Params is what ${params.NAME} stands for, at most 64 KiB. Where the draft declares
	// parameters it may name these alone, of their types.
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
}

// Trial reads the body of POST /jobs/trial. The schedule of the draft need not name a time to come.
func (r JobReader) Trial(req *http.Request) (job *entity.Job, params string, err error) {
	o, err := parse(req, false)
	if err != nil {
		return nil, "", err
	}
	var f faults
	b := newBinder(o, &f)
	body := bind[TrialBody](b)
	if len(body.Params) > maxParams {
		f.add("params", "too_long", "must be at most 64 KiB of JSON")
	}
	job = body.job(r.TimeZone)
	if job.Type == entity.JobWorkflow {
		f.add("jobType", "conflict", "a workflow is not tried as a whole: play it with `platform-scheduler workflow "+
			"simulate`, or try the work of one step as a job of its own")
	}
	if err = r.check(job, b, r.Now()); onlyPast(err) {
		err = nil
	}
	return job, string(body.Params), err
}

// BackfillBody is the body of POST /jobs/{id}/backfill.
type BackfillBody struct {
	From time.Time `json:"from" format:"date-time"`
	// To is exclusive, and past.
	To     time.Time `json:"to" format:"date-time"`
	DryRun bool      `json:"dryRun,omitempty"`
	// IncludeFailed also runs the times again whose fires failed, unless a retry has made
	// them good or is live.
	IncludeFailed bool `json:"includeFailed,omitempty"`
	// MaxParallel is how many of its runs may be live at once.
	MaxParallel int `json:"maxParallel,omitempty" minimum:"1" maximum:"100" default:"1"`
}

// Backfill reads the body of POST /jobs/{id}/backfill. dryRun asks what would
// run, and runs nothing.
func (r JobReader) Backfill(req *http.Request) (n execution.Backfill, dryRun bool, err error) {
	body, err := readBody(req, func(body *BackfillBody, f *faults) {
		n = execution.Backfill{
			From: body.From, To: body.To, MaxParallel: body.MaxParallel, IncludeFailed: body.IncludeFailed,
		}
		f.list = merge(f.list, n.Validate(r.Now()))
	})
	return n, body.DryRun, err
}

// CopyBody is the body of POST /jobs/{id}/copy.
type CopyBody struct {
	Name  string `json:"name,omitempty"`
	Group string `json:"group,omitempty"`
}

// VersionBody is a body of nothing but a version.
type VersionBody struct {
	Version int `json:"version,omitempty"`
}

// ReadCopy reads the body of POST /jobs/{id}/copy, which may be empty.
func ReadCopy(r *http.Request) (CopyBody, error) { return readAnyBody[CopyBody](r, nil) }

// ReadVersion reads a body of nothing but the version that the caller has
// seen; it is required unless If-Match was given.
func ReadVersion(r *http.Request, ifMatch bool) (version int, err error) {
	body, err := readAnyBody(r, func(body *VersionBody, f *faults) {
		if body.Version <= 0 && !ifMatch && len(f.list) == 0 {
			f.add("version", "required", "must be the version that you have read, or send it as If-Match")
		}
	})
	return body.Version, err
}
