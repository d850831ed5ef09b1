package vo

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// LoadMinute is the fires that are planned for a minute.
type LoadMinute struct {
	Time  Time `json:"time" format:"date-time"`
	Fires int  `json:"fires"`
}

// Load is the planned fires, minute by minute.
type Load struct {
	From  Time         `json:"from" format:"date-time"`
	Items []LoadMinute `json:"items"`
	// Peak is the first of the minutes with the most fires.
	Peak LoadMinute `json:"peak"`
	// Jobs is how many enabled jobs were counted; where Complete is false there
	// are more.
	Jobs     int  `json:"jobs"`
	Complete bool `json:"complete"`
}

// FromLoad makes the view of a load, which has at least one minute.
func FromLoad(l monitor.Load) Load {
	v := Load{From: Time(l.From), Items: minutesOf(l.From, l.Fires), Jobs: l.Jobs, Complete: l.Complete}
	v.Peak = slices.MaxFunc(v.Items, func(a, b LoadMinute) int { return a.Fires - b.Fires })
	return v
}

// Overview is the state of everything at a glance.
type Overview struct {
	Time Time `json:"time" format:"date-time"`
	Jobs struct {
		Created  int `json:"created"`
		Enabled  int `json:"enabled"`
		Paused   int `json:"paused"`
		Finished int `json:"finished"`
	} `json:"jobs"`
	Executions struct {
		Waiting        int      `json:"waiting"`
		WaitingAtLeast bool     `json:"waitingAtLeast,omitempty"`
		Running        int      `json:"running"`
		RunningAtLeast bool     `json:"runningAtLeast,omitempty"`
		LastHour       LastHour `json:"lastHour"`
	} `json:"executions"`
	DeadLetters        int  `json:"deadLetters"`
	DeadLettersAtLeast bool `json:"deadLettersAtLeast,omitempty"`
	Nodes              struct {
		Up       int `json:"up"`
		Suspect  int `json:"suspect"`
		Down     int `json:"down"`
		Draining int `json:"draining"`
	} `json:"nodes"`
	// Workers are those of the worker groups that serve the caller's groups. Waiting are runs that wait for a worker, or
	// for a node or a worker that has their handler.
	Workers struct {
		Groups         int  `json:"groups"`
		Up             int  `json:"up"`
		Draining       int  `json:"draining"`
		Down           int  `json:"down"`
		Waiting        int  `json:"waiting"`
		WaitingAtLeast bool `json:"waitingAtLeast,omitempty"`
	} `json:"workers"`
	// Leader is the node that does the tasks of the leader; null while there is
	// none.
	Leader *string `json:"leader" extensions:"x-nullable"`
	// Degraded says for people what does not work as it should; DegradedParts is
	// the same for programs.
	Degraded      []string   `json:"degraded"`
	DegradedParts []Degraded `json:"degradedParts"`
	LatenessMs    LatenessMs `json:"latenessMs"`
}

// Degraded is a part that does not work as it should.
type Degraded struct {
	// Part is stable: store, task, redis, membership, drain, clock, versions, node
	// or stop.
	Part string `json:"part"`
	// Reason is for people.
	Reason string `json:"reason"`
	// Since is when it was noticed first.
	Since Time `json:"since" format:"date-time"`
}

// FromTroubles makes the view of what is wrong; never nil.
func FromTroubles(troubles []monitor.Trouble) []Degraded {
	out := make([]Degraded, len(troubles))
	for i, t := range troubles {
		out[i] = Degraded{Part: t.Part, Reason: t.Reason, Since: Time(t.Since)}
	}
	return out
}

// LastHour is what became of the runs of the last hour that have ended;
// AtLeast marks counts that hit their bound.
type LastHour struct {
	Success   int  `json:"success"`
	Failed    int  `json:"failed"`
	Timeout   int  `json:"timeout"`
	Cancelled int  `json:"cancelled"`
	Skipped   int  `json:"skipped"`
	Dead      int  `json:"dead"`
	AtLeast   bool `json:"atLeast,omitempty"`
}

// LatenessMs is how late runs start on the node that answers; null until one has.
type LatenessMs struct {
	P50 *float64 `json:"p50" extensions:"x-nullable"`
	P99 *float64 `json:"p99" extensions:"x-nullable"`
}

// FromOverview makes the view of an overview.
func FromOverview(o monitor.Overview) Overview {
	v := Overview{
		Time: Time(o.Time), Degraded: []string{}, DegradedParts: FromTroubles(o.Degraded),
		DeadLetters: o.DeadLetters.N, DeadLettersAtLeast: o.DeadLetters.AtLeast,
	}
	for _, t := range o.Degraded {
		v.Degraded = append(v.Degraded, t.Reason)
	}
	v.Jobs.Created, v.Jobs.Enabled = o.Jobs[entity.JobCreated], o.Jobs[entity.JobEnabled]
	v.Jobs.Paused, v.Jobs.Finished = o.Jobs[entity.JobPaused], o.Jobs[entity.JobFinished]
	v.Executions.Waiting, v.Executions.WaitingAtLeast = o.Waiting.N, o.Waiting.AtLeast
	v.Executions.Running, v.Executions.RunningAtLeast = o.Running.N, o.Running.AtLeast
	v.Executions.LastHour = LastHour{
		Success: o.LastHour[entity.StatusSuccess], Failed: o.LastHour[entity.StatusFailed],
		Timeout:   o.LastHour[entity.StatusTimeout],
		Cancelled: o.LastHour[entity.StatusCancelled], Skipped: o.LastHour[entity.StatusSkipped],
		Dead:    o.LastHour[entity.StatusDead],
		AtLeast: o.LastHourAtLeast,
	}
	v.Nodes.Up, v.Nodes.Suspect = o.Nodes[entity.NodeUp], o.Nodes[entity.NodeSuspect]
	v.Nodes.Down, v.Nodes.Draining = o.Nodes[entity.NodeDown], o.Nodes[entity.NodeDraining]
	v.Workers.Groups, v.Workers.Up, v.Workers.Draining = o.Workers.Groups, o.Workers.Up, o.Workers.Draining
	v.Workers.Down = o.Workers.Down
	v.Workers.Waiting, v.Workers.WaitingAtLeast = o.Workers.Waiting.N, o.Workers.Waiting.AtLeast
	if o.Leader != "" {
		v.Leader = &o.Leader
	}
	if o.Lateness.Known {
		p50, p99 := milliseconds(o.Lateness.P50), milliseconds(o.Lateness.P99)
		v.LatenessMs = LatenessMs{P50: &p50, P99: &p99}
	}
	return v
}

// milliseconds is exact to a hundredth.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()/10) / 100 }

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
