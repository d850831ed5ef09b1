package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxParams bounds the parameters of a trigger, in bytes of JSON.
const maxParams = 64 << 10

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
