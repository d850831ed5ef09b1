package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

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
