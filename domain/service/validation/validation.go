// Package validation says what is wrong with a definition before anything is
// stored, all of it at once, in the field names of the API.
package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// The bounds of a definition. Lengths count characters; MaxDataBytes and MaxLabelBytes bytes, the latter of JSON.
const (
	MaxName        = bounds.Name
	MaxDescription = bounds.Description
	MaxGroup       = bounds.Group
	MaxConcurrency = 10_000
	MaxOwner       = bounds.Owner
	MaxClass       = bounds.Class
	MaxLabels      = bounds.Labels
	MaxLabelKey    = bounds.LabelKey
	MaxLabelValue  = bounds.LabelValue
	MaxLabelBytes  = bounds.LabelBytes
	MaxDataBytes   = bounds.DataBytes
	week           = 7 * 24 * 3600
	day            = 24 * 3600
	year           = 365 * day
)

// The codes of wrong fields. They are stable: programs tell errors apart by them.
const (
	CodeRequired = "required"
	CodeTooLong  = "too_long"
	CodeTooMany  = "too_many"
	// CodeTooLarge: each part is well, and all of them together are too much.
	CodeTooLarge   = "too_large"
	CodeOutOfRange = "out_of_range"
	CodeUnknown    = "unknown_value"
	CodeInvalid    = "invalid"
	CodeConflict   = "conflict"
	// CodeHidden: the value is what was shown in the place of another one.
	CodeHidden = "hidden_value"
)

// DataField is the executor's part of a definition, LabelsField its labels.
const (
	DataField   = "jobData"
	LabelsField = "labels"
)

// Job lists everything that is wrong with a definition at now, in the order of
// the API's fields; none is a good definition. It expects Defaults to have run
// and does not look at what the executor of the type asks of jobData.
func Job(j *entity.Job, now time.Time) []apperror.Field {
	c := &checker{}
	c.identity(j)
	c.work(j)
	for _, e := range schedule.Validate(j.Schedule, now) {
		c.add(e.Field, e.Code, "%s", e.Message)
	}
	c.misfire(j.Misfire)
	c.limits(j)
	c.retry(j.Retry)
	c.concurrency(j)
	c.alerts(j)
	c.deadline(j, now)
	c.parameters(j)
	c.next(j)
	return c.fields
}

// checker gathers wrong fields.
type checker struct{ fields []apperror.Field }

func (c *checker) add(field, code, format string, args ...any) {
	c.fields = append(c.fields, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) identity(j *entity.Job) {
	if strings.TrimSpace(j.Name) == "" {
		c.add("name", CodeRequired, "give the job a name")
	} else {
		c.line("name", j.Name, MaxName)
	}
	c.text("description", j.Description, MaxDescription)
	if j.Group == "" {
		c.add("group", CodeRequired, "name a group, or leave the field out for %q", DefaultGroup)
	} else {
		c.group("group", j.Group)
	}
	c.labels("labels", j.Labels)
	if n := LabelBytes(j.Labels); len(j.Labels) <= MaxLabels && n > MaxLabelBytes {
		c.add(
			LabelsField,
			CodeTooLarge,
			"keep at most %d bytes as JSON, where <, > and & take 6 each; there are %d: shorten "+
				"values, or leave labels out",
			MaxLabelBytes,
			n,
		)
	}
	c.line("owner", j.Owner, MaxOwner)
}

func (c *checker) group(field, name string) {
	if c.line(field, name, MaxGroup) && !simple(name) {
		c.add(field, CodeInvalid, "use letters, digits, '-', '_' and '.', and begin with a letter or digit")
	}
}

// Group checks the settings of a group of jobs.
func Group(g entity.Group) []apperror.Field {
	c := &checker{}
	if g.Name == "" {
		c.add("name", CodeRequired, "give the group a name")
	} else {
		c.group("name", g.Name)
	}
	c.between("maxConcurrency", int64(g.MaxConcurrency), 0, MaxConcurrency)
	return c.fields
}

// GroupName says how to mend the name of a group; "" when it is well.
func GroupName(name string) (remedy string) {
	c := &checker{}
	c.group("group", name)
	switch {
	case name == "":
		return "give the group a name"
	case len(c.fields) > 0:
		return c.fields[0].Message
	}
	return ""
}

func (c *checker) work(j *entity.Job) {
	oneOf(c, "jobType", j.Type, jobTypes)
	if j.Type == entity.JobWorkflow {
		c.ofSteps(j)
	} else if j.Type != entity.JobCustom && j.Class == entity.HTTPHandler {
		c.add("jobClass", CodeConflict, "%s is no handler, and only a CUSTOM job has one: leave jobClass out", j.Class)
	} else if j.Type == entity.JobCustom && strings.TrimSpace(j.Class) == "" {
		c.add("jobClass", CodeRequired, "name the handler that runs the job, such as noop")
	} else {
		c.line("jobClass", j.Class, MaxClass)
	}
	switch {
	case len(j.Data) > maxData(j.Type):
		c.add(DataField, CodeTooLong, "shorten it to at most %d bytes; it has %d", maxData(j.Type), len(j.Data))
	case !Object(j.Data):
		c.add(DataField, CodeInvalid, "must be a JSON object, such as {}")
	default:
		_, hidden := sensitive.Find(j.Data)
		for _, path := range hidden {
			c.add(DataField+"."+path, CodeHidden,
				"is %s, which stands for a value that was not shown; give the value, or better name a secret", sensitive.Hidden)
		}
	}
}

func (c *checker) misfire(m entity.Misfire) {
	oneOf(c, "schedule.misfirePolicy", m.Policy, misfirePolicies)
	c.between("schedule.misfireThresholdSec", int64(m.ThresholdSec), 0, day)
	c.between("schedule.misfireWindowSec", int64(m.WindowSec), 0, year)
	c.between("schedule.misfireMaxFires", int64(m.MaxFires), 1, 10_000)
}

func (c *checker) limits(j *entity.Job) {
	c.between("priority", int64(j.Priority), 1, 10)
	c.between("timeoutSec", int64(j.TimeoutSec), 0, week)
	c.between("startDeadlineSec", int64(j.StartDeadlineSec), 0, week)
}

func (c *checker) retry(p entity.RetryPolicy) {
	const longest = day * 1000
	c.between("retryPolicy.maxRetries", int64(p.MaxRetries), 0, 1000)
	oneOf(c, "retryPolicy.backoff", p.Backoff, backoffs)
	interval := c.between("retryPolicy.intervalMs", p.IntervalMs, 0, longest)
	highest := c.between("retryPolicy.maxIntervalMs", p.MaxIntervalMs, 0, longest)
	if interval && highest && p.MaxIntervalMs < p.IntervalMs {
		c.add("retryPolicy.maxIntervalMs", CodeOutOfRange, "must be at least intervalMs, %d", p.IntervalMs)
	}
	if !(p.Jitter >= 0 && p.Jitter <= 1) {
		c.add("retryPolicy.jitter", CodeOutOfRange, "must be between 0 and 1")
	}
	if most := len(attemptReasons); len(p.NoRetryOn) > most {
		c.add("retryPolicy.noRetryOn", CodeTooMany, "name each reason once; there are %d", most)
		return
	}
	for i, reason := range p.NoRetryOn {
		oneOf(c, fmt.Sprintf("retryPolicy.noRetryOn[%d]", i), reason, attemptReasons)
	}
}

// workers checks the worker group of a job.
func (c *checker) workers(j *entity.Job) {
	switch group := j.Routing.Workers; {
	case group == "":
	case !worker.ValidGroup(group):
		c.add("routing.workers", CodeInvalid, "a worker group has 1 to %d of a-z 0-9 . - _", worker.MaxGroup)
	case j.Type == entity.JobCustom && j.Class == entity.HTTPHandler:
		c.add("jobClass", CodeConflict, "%s stands for the HTTP calls of workers: use jobType HTTP, or name a handler",
			j.Class)
	}
}

func (c *checker) concurrency(j *entity.Job) {
	oneOf(c, "overlapPolicy", j.Overlap, overlapPolicies)
	c.between("maxConcurrency", int64(j.MaxConcurrency), 0, MaxConcurrency)
	c.between("maxQueued", int64(j.MaxQueued), 0, 100_000)
	c.between("shardCount", int64(j.ShardCount), 1, 1024)
	oneOf(c, "routing.strategy", j.Routing.Strategy, strategies)
	c.labels("routing.labels", j.Routing.Labels)
	c.workers(j)
	oneOf(c, "onNodeLoss", j.OnNodeLoss, nodeLosses)
	if j.Broadcast && j.ShardCount > 1 {
		c.add("broadcast", CodeConflict,
			"a broadcast makes one shard a node, or a worker; set shardCount to 1 or broadcast to false")
	}
	if j.Schedule.Kind == schedule.FixedDelay && j.MaxConcurrency > 1 {
		c.add("maxConcurrency", CodeConflict,
			"the runs of a FIXED_DELAY job follow one another; set it to 0 or 1, or use FIXED_RATE")
	}
}

func (c *checker) labels(field string, labels map[string]string) {
	if len(labels) > MaxLabels {
		c.add(field, CodeTooMany, "keep at most %d labels; there are %d", MaxLabels, len(labels))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		name := field + "." + Text(key, MaxLabelKey)
		if strings.TrimSpace(key) == "" {
			c.add(field, CodeInvalid, "give every label a key")
			continue
		}
		if c.line(name, key, MaxLabelKey) {
			c.line(name, labels[key], MaxLabelValue)
		}
	}
}

// LabelBytes is how many bytes labels have as JSON, as the store keeps them.
func LabelBytes(labels map[string]string) int {
	if len(labels) == 0 {
		return 0
	}
	data, _ := json.Marshal(labels) // texts always marshal
	return len(data)
}

// Object reports whether the text is one JSON object in valid UTF-8.
func Object(text string) bool {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return false
	}
	return validText(text) && json.Valid([]byte(text))
}

// Retry checks the retry policy of something that is no job. A value that it leaves out is that of a job.
func Retry(p entity.RetryPolicy) []apperror.Field {
	j := entity.Job{Retry: p}
	Defaults(&j, "")
	c := &checker{}
	c.retry(j.Retry)
	return c.fields
}
