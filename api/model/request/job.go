package request

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// JobChecker checks the part of a definition that its executor reads.
type JobChecker interface {
	Check(job *entity.Job) []apperror.Field
}

// JobReader reads definitions from requests. It is safe for concurrent use if
// its parts are.
type JobReader struct {
	// TimeZone is given to schedules that name none.
	TimeZone string
	// Checker adds what the executor finds wrong; nil adds nothing.
	Checker JobChecker
	// Now is the time that "in the past" refers to.
	Now func() time.Time
}

// JobInput is the body of POST /jobs.
type JobInput struct {
	Job     *entity.Job
	Enabled bool
}

// Create reads the body of POST /jobs.
func (r JobReader) Create(req *http.Request) (JobInput, error) {
	n := JobInput{Enabled: true}
	o, err := parse(req, false)
	if err != nil {
		return n, err
	}
	var f faults
	b := newBinder(o, &f)
	b.boolean("enabled", &n.Enabled)
	b.ignore("version")
	n.Job = r.bind(b)
	return n, r.check(n.Job, &f, r.Now())
}

// JobEdit is the body of PUT /jobs/{id}. Version is 0 when it was not given,
// and GroupGiven false where the job stays in its group.
type JobEdit struct {
	Job        *entity.Job
	Version    int
	GroupGiven bool
}

// Replace reads the body of PUT /jobs/{id}; versionElsewhere says that an
// If-Match header names the version, so that the body need not.
func (r JobReader) Replace(req *http.Request, versionElsewhere bool) (JobEdit, error) {
	var e JobEdit
	o, err := parse(req, false)
	if err != nil {
		return e, err
	}
	var f faults
	b := newBinder(o, &f)
	integer(b, "version", &e.Version)
	switch given := o.fields["version"] != nil; {
	case !given && !versionElsewhere:
		f.add("version", "required", "send the version that was edited, or If-Match with its ETag")
	case given && e.Version < 1 && len(f.list) == 0:
		f.add("version", "out_of_range", "must be the version that was read, from 1")
	}
	e.GroupGiven = o.fields["group"] != nil
	e.Job = r.bind(b)
	err = r.check(e.Job, &f, r.Now())
	if onlyPast(err) {
		// Whether a past schedule is the one the job already had, and may
		// stay, is known to the service alone.
		err = nil
	}
	return e, err
}

// onlyPast reports that nothing is wrong but that the schedule names no time
// to come.
func onlyPast(err error) bool {
	var invalid *apperror.Error
	if !errors.As(err, &invalid) || invalid.Kind != apperror.KindInvalid {
		return false
	}
	return !slices.ContainsFunc(invalid.Fields, func(f apperror.Field) bool { return !past(f) })
}

// past reports that a field is wrong only in naming no time to come.
func past(f apperror.Field) bool {
	return f.Code == schedule.CodeInPast || f.Code == schedule.CodeNeverFires
}

// check joins the findings of binding and validation.
func (r JobReader) check(job *entity.Job, f *faults, now time.Time) error {
	return apperror.Invalid(merge(f.list, r.findings(job, now)))
}

// findings is what is wrong with a definition once it is bound.
func (r JobReader) findings(job *entity.Job, now time.Time) []apperror.Field {
	found := validation.Job(job, now)
	if r.Checker != nil {
		found = merge(found, r.Checker.Check(job))
	}
	return found
}

// FormerCommand is the former name of entity.JobCommand, which is still taken.
const FormerCommand entity.JobType = "CRON"

// bind reads the definition; what is absent is at its default.
func (r JobReader) bind(b *binder) *entity.Job {
	j := validation.NewJob(r.TimeZone)
	setGaps(&j.Schedule)
	b.text("name", &j.Name)
	b.text("description", &j.Description)
	b.text("group", &j.Group)
	b.labels("labels", &j.Labels)
	b.text("owner", &j.Owner)
	enum(b, "jobType", &j.Type)
	if j.Type == FormerCommand {
		j.Type = entity.JobCommand
	}
	b.text("jobClass", &j.Class)
	b.raw("jobData", &j.Data)
	b.nested("schedule", func(b *binder) {
		bindSpec(b, &j.Schedule)
		enum(b, "misfirePolicy", &j.Misfire.Policy)
		integer(b, "misfireThresholdSec", &j.Misfire.ThresholdSec)
		integer(b, "misfireWindowSec", &j.Misfire.WindowSec)
		integer(b, "misfireMaxFires", &j.Misfire.MaxFires)
	})
	integer(b, "priority", &j.Priority)
	integer(b, "timeoutSec", &j.TimeoutSec)
	integer(b, "startDeadlineSec", &j.StartDeadlineSec)
	b.nested("retryPolicy", func(b *binder) { bindRetry(b, &j.Retry) })
	enum(b, "overlapPolicy", &j.Overlap)
	integer(b, "maxConcurrency", &j.MaxConcurrency)
	integer(b, "maxQueued", &j.MaxQueued)
	integer(b, "shardCount", &j.ShardCount)
	b.boolean("broadcast", &j.Broadcast)
	b.nested("routing", func(b *binder) {
		enum(b, "strategy", &j.Routing.Strategy)
		b.labels("labels", &j.Routing.Labels)
	})
	enum(b, "onNodeLoss", &j.OnNodeLoss)
	b.ignore("id", "status", "nextFireTime", "lastFireTime", "createTime", "updateTime", "warnings", "unreadable",
		"pausedAt", "pausedBy", "pausedUntil", "pauseReason", "pauseUser")
	b.close()
	return j
}

// bindSpec reads a schedule. One that does not say its kind is of the first
// kind, CRON; no schedule at all is NONE.
func bindSpec(b *binder, s *schedule.Spec) {
	s.Kind = schedule.Cron
	enum(b, "kind", &s.Kind)
	b.text("cronExpression", &s.CronExpression)
	enum(b, "dialect", &s.Dialect)
	integer(b, "intervalMs", &s.IntervalMs)
	b.time("at", &s.At)
	b.text("timeZone", &s.TimeZone)
	b.time("startTime", &s.StartTime)
	b.time("endTime", &s.EndTime)
	integer(b, "jitterMs", &s.JitterMs)
	enum(b, "dstGap", &s.DstGap)
	enum(b, "dstOverlap", &s.DstOverlap)
}

func setGaps(s *schedule.Spec) {
	s.DstGap, s.DstOverlap = cronexpr.NextValid, cronexpr.First
}

func bindRetry(b *binder, p *entity.RetryPolicy) {
	integer(b, "maxRetries", &p.MaxRetries)
	enum(b, "backoff", &p.Backoff)
	integer(b, "intervalMs", &p.IntervalMs)
	if b.object.fields["maxIntervalMs"] == nil {
		// A cap that nobody named must not forbid a longer interval.
		p.MaxIntervalMs = max(p.MaxIntervalMs, p.IntervalMs)
	}
	integer(b, "maxIntervalMs", &p.MaxIntervalMs)
	b.float("jitter", &p.Jitter)
	if reasons, ok := b.strings("noRetryOn"); ok {
		p.NoRetryOn = nil
		for _, r := range reasons {
			p.NoRetryOn = append(p.NoRetryOn, entity.Reason(r))
		}
	}
}
