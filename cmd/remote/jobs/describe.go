package jobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// fireTimes are the next fires of a job, and its schedule in words.
type fireTimes struct {
	FireTimes   []string `json:"fireTimes"`
	Description string   `json:"description"`
}

// described is what job get shows of a job.
type described struct {
	listed
	Description      string            `json:"description"`
	Labels           map[string]string `json:"labels"`
	Owner            string            `json:"owner"`
	JobClass         string            `json:"jobClass"`
	JobData          json.RawMessage   `json:"jobData"`
	Schedule         schedule          `json:"schedule"`
	Priority         int               `json:"priority"`
	TimeoutSec       int               `json:"timeoutSec"`
	StartDeadlineSec int               `json:"startDeadlineSec"`
	RetryPolicy      retries           `json:"retryPolicy"`
	OverlapPolicy    string            `json:"overlapPolicy"`
	MaxConcurrency   int               `json:"maxConcurrency"`
	MaxQueued        int               `json:"maxQueued"`
	ShardCount       int               `json:"shardCount"`
	Broadcast        bool              `json:"broadcast"`
	Routing          struct {
		Strategy string            `json:"strategy"`
		Labels   map[string]string `json:"labels"`
	} `json:"routing"`
	OnNodeLoss string    `json:"onNodeLoss"`
	Alerts     told      `json:"alerts"`
	Deadline   *deadline `json:"deadline"`
	// PausedBy is JOB or GROUP where the job is paused.
	PausedBy string `json:"pausedBy"`
	remote.PauseState
	// Unreadable says what of the stored job cannot be read.
	Unreadable string  `json:"unreadable"`
	Version    int     `json:"version"`
	CreateTime *string `json:"createTime"`
	UpdateTime *string `json:"updateTime"`
}

// told are the channels that are told of the runs of a job.
type told struct {
	OnFailure    []string `json:"onFailure"`
	OnSuccess    []string `json:"onSuccess"`
	OnEnd        []string `json:"onEnd"`
	OnLate       []string `json:"onLate"`
	OnRecovered  []string `json:"onRecovered"`
	LateAfterSec int      `json:"lateAfterSec"`
}

func (a told) rule() string {
	var parts []string
	for _, list := range []struct {
		when     string
		channels []string
	}{
		{"on failure", a.OnFailure},
		{"on success", a.OnSuccess},
		{"on end", a.OnEnd},
		{"when late", a.OnLate},
		{"on recovery", a.OnRecovered},
	} {
		if len(list.channels) > 0 {
			parts = append(parts, list.when+": "+strings.Join(list.channels, ", "))
		}
	}
	if a.LateAfterSec > 0 {
		parts = append(parts, "late after "+seconds(a.LateAfterSec))
	}
	return strings.Join(parts, "\n")
}

// deadline is the time of the day by which a fire is to have succeeded.
type deadline struct {
	At       string `json:"at"`
	TimeZone string `json:"timeZone"`
	OnMiss   string `json:"onMiss"`
}

func (d *deadline) rule() string {
	if d == nil {
		return ""
	}
	return d.At + " " + d.TimeZone + ", then " + d.OnMiss
}

// schedule is when a job fires.
type schedule struct {
	Kind           string  `json:"kind"`
	CronExpression string  `json:"cronExpression"`
	Dialect        string  `json:"dialect"`
	IntervalMs     int64   `json:"intervalMs"`
	At             *string `json:"at"`
	TimeZone       string  `json:"timeZone"`
	StartTime      *string `json:"startTime"`
	EndTime        *string `json:"endTime"`
	JitterMs       int64   `json:"jitterMs"`
	MisfirePolicy  string  `json:"misfirePolicy"`
}

// retries is how a failed run is repeated.
type retries struct {
	MaxRetries    int      `json:"maxRetries"`
	Backoff       string   `json:"backoff"`
	IntervalMs    int64    `json:"intervalMs"`
	MaxIntervalMs int64    `json:"maxIntervalMs"`
	NoRetryOn     []string `json:"noRetryOn"`
}

func ms(n int64) string    { return (time.Duration(n) * time.Millisecond).String() }
func seconds(n int) string { return (time.Duration(n) * time.Second).String() }

// rule is the schedule in one line.
func (v schedule) rule(zone *time.Location) string {
	var parts []string
	switch v.Kind {
	case "CRON":
		parts = append(parts, v.Kind, v.CronExpression, v.TimeZone)
		if v.Dialect != "QUARTZ" {
			parts = append(parts, v.Dialect)
		}
	case "ONCE":
		parts = append(parts, v.Kind, remote.In(zone, v.At))
	case "FIXED_RATE", "FIXED_DELAY":
		parts = append(parts, v.Kind, "of "+ms(v.IntervalMs))
	default:
		return "none; it fires when it is triggered"
	}
	if v.StartTime != nil {
		parts = append(parts, "from "+remote.In(zone, v.StartTime))
	}
	if v.EndTime != nil {
		parts = append(parts, "until "+remote.In(zone, v.EndTime))
	}
	if v.JitterMs > 0 {
		parts = append(parts, "spread over "+ms(v.JitterMs))
	}
	return strings.Join(parts, " ")
}

func (r retries) rule() string {
	if r.MaxRetries == 0 {
		return "none"
	}
	text := fmt.Sprintf("%d, %s from %s to at most %s", r.MaxRetries, r.Backoff, ms(r.IntervalMs), ms(r.MaxIntervalMs))
	if len(r.NoRetryOn) > 0 {
		text += ", not on " + strings.Join(r.NoRetryOn, ", ")
	}
	return text
}

// pairs are labels in one line.
func pairs(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+labels[name])
	}
	return strings.Join(parts, ", ")
}

// why says what is known of the pause of a job.
func (j described) why(s *remote.Session) string {
	text := j.Words(s)
	if j.PausedBy == "GROUP" {
		text = strings.TrimSpace("with its group " + text)
	}
	return text
}

func (j described) overlap() string {
	text := j.OverlapPolicy
	if j.MaxConcurrency > 0 {
		text += fmt.Sprintf(", at most %d at once", j.MaxConcurrency)
	}
	if j.OverlapPolicy == "SERIAL" || j.MaxConcurrency > 0 {
		text += fmt.Sprintf(", at most %d wait", j.MaxQueued)
	}
	return text
}

func (j described) shards() string {
	switch {
	case j.Broadcast:
		return "one on every node"
	case j.ShardCount > 1:
		return fmt.Sprint(j.ShardCount)
	}
	return ""
}

func (j described) routing() string {
	if len(j.Routing.Labels) == 0 {
		return j.Routing.Strategy
	}
	return j.Routing.Strategy + " among nodes with " + pairs(j.Routing.Labels)
}

// limit is a time limit in seconds; "" for none.
func limit(sec int) string {
	if sec == 0 {
		return ""
	}
	return seconds(sec)
}

func (n *naming) get() *cobra.Command {
	return n.one("get", "Show a job", func(c *cobra.Command, api *client.Client, j remote.Job) error {
		var raw json.RawMessage
		if err := api.Call(c.Context(), "GET", "/jobs/"+j.ID, nil, nil, &raw); err != nil {
			return err
		}
		if !n.ForPeople() {
			return n.Raw(raw)
		}
		var v described
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		var next fireTimes
		if err := api.Call(c.Context(), "GET", "/jobs/"+j.ID+"/next-fire-times", remote.Query("count", "3"), nil,
			&next); err != nil {
			return err
		}
		return n.describe(v, next)
	})
}

func (n *naming) describe(j described, next fireTimes) error {
	zone := n.Zone(j.Schedule.TimeZone)
	data := strings.TrimSpace(string(j.JobData))
	if text, err := yamljson.ToYAML(j.JobData); err == nil && data != "{}" {
		data = string(text)
	}
	var times []string
	for _, t := range next.FireTimes {
		times = append(times, remote.In(zone, &t))
	}
	return n.Fields([]output.Field{
		{Name: "Name", Value: j.Name},
		{Name: "Group", Value: j.Group},
		{Name: "Id", Value: j.ID},
		{Name: "Description", Value: j.Description},
		{Name: "Owner", Value: j.Owner},
		{Name: "Labels", Value: pairs(j.Labels)},
		{Name: "Status", Value: j.Status},
		{Name: "Paused", Value: j.why(n.Session)},
		{Name: "Unreadable", Value: j.Unreadable},
		{Name: "Type", Value: strings.TrimSpace(j.JobType + " " + j.JobClass)},
		{Name: "Data", Value: data},
		{Name: "Schedule", Value: j.Schedule.rule(zone)},
		{Name: "In words", Value: next.Description},
		{Name: "Next fires", Value: strings.Join(times, "\n")},
		{Name: "Last fire", Value: remote.In(zone, j.LastFireTime)},
		{Name: "Misfire", Value: j.Schedule.MisfirePolicy},
		{Name: "Overlap", Value: j.overlap()},
		{Name: "Retries", Value: j.RetryPolicy.rule()},
		{Name: "Time limit", Value: limit(j.TimeoutSec)},
		{Name: "Start deadline", Value: limit(j.StartDeadlineSec)},
		{Name: "Shards", Value: j.shards()},
		{Name: "Routing", Value: j.routing()},
		{Name: "On node loss", Value: j.OnNodeLoss},
		{Name: "Alerts", Value: j.Alerts.rule()},
		{Name: "Deadline", Value: j.Deadline.rule()},
		{Name: "Priority", Value: fmt.Sprint(j.Priority)},
		{Name: "Version", Value: fmt.Sprintf("%d, changed %s", j.Version, n.Moment(j.UpdateTime))},
		{Name: "Made", Value: n.Moment(j.CreateTime)},
	})
}
