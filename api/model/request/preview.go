package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Bounds of a preview.
const (
	DefaultFireTimes = 10
	MaxFireTimes     = 1000
)

// PreviewBody documents the body of POST /schedules/preview.
type PreviewBody struct {
	Schedule PreviewSchedule `json:"schedule"`
	// From is now where it is absent.
	From  time.Time `json:"from,omitempty" format:"date-time"`
	Count int       `json:"count,omitempty" minimum:"1" maximum:"1000" default:"10"`
}

// PreviewSchedule documents the schedule of a preview. What does not change its
// times is accepted and not looked at.
type PreviewSchedule struct {
	ScheduleTimes
	MisfirePolicy       string `json:"misfirePolicy,omitempty" readonly:"true"`
	MisfireThresholdSec int    `json:"misfireThresholdSec,omitempty" readonly:"true"`
	MisfireWindowSec    int    `json:"misfireWindowSec,omitempty" readonly:"true"`
	MisfireMaxFires     int    `json:"misfireMaxFires,omitempty" readonly:"true"`
}

// Preview is the body of POST /schedules/preview.
type Preview struct {
	Spec  schedule.Spec
	From  time.Time
	Count int
}

// Preview reads the body of POST /schedules/preview. Fields of a job's
// schedule that do not change its times, such as misfirePolicy, are accepted.
func (r JobReader) Preview(req *http.Request) (Preview, error) {
	p := Preview{Count: DefaultFireTimes}
	o, err := parse(req, false)
	if err != nil {
		return p, err
	}
	var f faults
	b := newBinder(o, &f)
	p.Spec.TimeZone, p.Spec.Dialect = r.TimeZone, cronexpr.Quartz
	setGaps(&p.Spec)
	if o.fields["schedule"] == nil {
		f.add("schedule", "required", "send the schedule to preview")
	}
	b.nested("schedule", func(b *binder) {
		bindSpec(b, &p.Spec)
		b.ignore("misfirePolicy", "misfireThresholdSec", "misfireWindowSec", "misfireMaxFires")
	})
	b.time("from", &p.From)
	integer(b, "count", &p.Count)
	if p.Count < 1 || p.Count > MaxFireTimes {
		f.add("count", "out_of_range", "must be from 1 to %d", MaxFireTimes)
	}
	b.close()
	if p.From.IsZero() {
		p.From = r.Now()
	}
	p.Spec.Anchor = p.From
	var found []apperror.Field
	if o.fields["schedule"] != nil {
		for _, e := range schedule.Validate(p.Spec, p.From) {
			found = append(found, apperror.Field(e))
		}
	}
	return p, apperror.Invalid(merge(f.list, found))
}
