package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// maxParams bounds the parameters of a trigger, in bytes of JSON.
const maxParams = 64 << 10

// TriggerBody documents the body of POST /jobs/{id}/trigger.
type TriggerBody struct {
	// Params is what ${params.NAME} stands for, at most 64 KiB.
	Params map[string]any `json:"params,omitempty"`
	// ScheduledTime is what ${scheduledTime} stands for, now where it is absent.
	ScheduledTime time.Time `json:"scheduledTime,omitempty" format:"date-time"`
	// DelaySec puts the start off.
	DelaySec int `json:"delaySec,omitempty" minimum:"0" maximum:"31622400"`
}

// ReadTrigger reads the body of POST /jobs/{id}/trigger, which may be empty.
func ReadTrigger(r *http.Request) (service.Trigger, error) {
	var t service.Trigger
	o, err := parse(r, true)
	if err != nil {
		return t, err
	}
	var f faults
	b := newBinder(o, &f)
	b.raw("params", &t.Params)
	if len(t.Params) > maxParams {
		f.add("params", "too_long", "must be at most 64 KiB of JSON")
	}
	b.time("scheduledTime", &t.ScheduledTime)
	integer(b, "delaySec", &t.DelaySec)
	if t.DelaySec < 0 || t.DelaySec > service.MaxDelaySec {
		f.add("delaySec", "out_of_range", "must be from 0 to %d seconds", service.MaxDelaySec)
	}
	b.close()
	return t, apperror.Invalid(f.list)
}
