package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Bounds of a preview.
const (
	DefaultFireTimes = 10
	MaxFireTimes     = 1000
)

// PreviewBody is the body of POST /schedules/preview.
type PreviewBody struct {
	Schedule *PreviewSchedule `json:"schedule"`
	// From is now where it is absent.
	From  time.Time `json:"from,omitempty" format:"date-time"`
	Count int       `json:"count,omitempty" minimum:"1" maximum:"1000" default:"10"`
}

// PreviewSchedule is the schedule of a preview. A field that does not change
// its times is accepted and not looked at.
type PreviewSchedule struct {
	ScheduleTimes
	MisfirePolicy       string `json:"misfirePolicy,omitempty" readonly:"true"`
	MisfireThresholdSec int    `json:"misfireThresholdSec,omitempty" readonly:"true"`
	MisfireWindowSec    int    `json:"misfireWindowSec,omitempty" readonly:"true"`
	MisfireMaxFires     int    `json:"misfireMaxFires,omitempty" readonly:"true"`
}

// Preview is what is to be shown of a schedule.
type Preview struct {
	Spec  schedule.Spec
	From  time.Time
	Count int
}

// Preview reads the body of POST /schedules/preview. Fields of a job's
// schedule that do not change its times, such as misfirePolicy, are accepted.
func (r JobReader) Preview(req *http.Request) (Preview, error) {
	var p Preview
	body, err := readBody(req, func(body *PreviewBody, f *faults) {
		if p.From = body.From; p.From.IsZero() {
			p.From = r.Now()
		}
		if body.Count < 1 || body.Count > MaxFireTimes {
			f.add("count", "out_of_range", "must be from 1 to %d", MaxFireTimes)
		}
		if body.Schedule == nil {
			if !f.has("schedule") {
				f.add("schedule", "required", "send the schedule to preview")
			}
			return
		}
		p.Spec = body.Schedule.spec(r.TimeZone)
		p.Spec.Anchor = p.From
		var found []apperror.Field
		for _, e := range schedule.Validate(p.Spec, p.From) {
			found = append(found, apperror.Field(e))
		}
		f.list = merge(f.list, found)
	})
	p.Count = body.Count
	return p, err
}

// SpreadBody is the body of POST /schedules/spread.
type SpreadBody struct {
	// Minute is the minute whose jobs are spread; seconds are cut.
	Minute time.Time `json:"minute" format:"date-time"`
	// JitterMs is the jitter that they get; those with as much keep theirs.
	JitterMs int64  `json:"jitterMs" minimum:"1000" maximum:"86400000"`
	Group    string `json:"group,omitempty"`
	// DryRun: nothing is changed.
	DryRun bool `json:"dryRun,omitempty"`
}

// minSpreadMs is the least jitter that spreads anything.
const minSpreadMs = 1_000

// ReadSpread reads the body of POST /schedules/spread.
func ReadSpread(r *http.Request) (SpreadBody, error) {
	return readBody(r, func(body *SpreadBody, f *faults) {
		if body.Minute.IsZero() && !f.has("minute") {
			f.add("minute", "required", "say which minute is to be spread, as RFC 3339")
		}
		if body.JitterMs < minSpreadMs || body.JitterMs > schedule.MaxJitterMs {
			f.add("jitterMs", "out_of_range", "must be from %d to %d", minSpreadMs, schedule.MaxJitterMs)
		}
	})
}
