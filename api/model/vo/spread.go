package vo

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
)

// Spread is what a jitter does to the jobs that fire in a minute.
type Spread struct {
	Minute   Time  `json:"minute" format:"date-time"`
	JitterMs int64 `json:"jitterMs"`
	DryRun   bool  `json:"dryRun"`
	// Before and After are the planned fires from the minute on, as far as the jitter reaches.
	Before []LoadMinute `json:"before"`
	After  []LoadMinute `json:"after"`
	// Jobs get the jitter; more says that there are others, for another call.
	Jobs []SpreadJob `json:"jobs"`
	More bool        `json:"more"`
	// Kept jobs fire in the minute and stay as they are: they have as much jitter, or an interval that is not longer.
	Kept int `json:"kept"`
	// Complete is false when there was too much to count.
	Complete bool `json:"complete"`
	// Result is what became of each; null of a dry run.
	Result *Bulk `json:"result" extensions:"x-nullable"`
}

// SpreadJob is a job that fires in the minute.
type SpreadJob struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Group string `json:"group"`
	// Fires is how often it fires in the minute, JitterMs what jitter it had.
	Fires    int   `json:"fires"`
	JitterMs int64 `json:"jitterMs"`
}

// FromSpread makes the view of a plan; names and groups are by id.
func FromSpread(s monitor.Spread, jitter time.Duration, names, groups map[string]string) Spread {
	v := Spread{
		Minute: Time(s.From), JitterMs: jitter.Milliseconds(), Before: minutesOf(s.From, s.Before),
		After: minutesOf(s.From, s.After), Jobs: make([]SpreadJob, len(s.Jobs)), More: s.More, Kept: s.Kept,
		Complete: s.Complete,
	}
	for i, j := range s.Jobs {
		v.Jobs[i] = SpreadJob{
			ID: j.ID, Name: names[j.ID], Group: groups[j.ID], Fires: j.Fires, JitterMs: j.Jitter.Milliseconds(),
		}
	}
	return v
}

func minutesOf(from time.Time, fires []int) []LoadMinute {
	minutes := make([]LoadMinute, len(fires))
	for i, n := range fires {
		minutes[i] = LoadMinute{Time: Time(from.Add(time.Duration(i) * time.Minute)), Fires: n}
	}
	return minutes
}
