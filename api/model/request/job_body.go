package request

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// JobBody is the body of POST /jobs, and a job of a document.
type JobBody struct {
	JobSettings
	// Enabled false leaves the job CREATED.
	Enabled *bool `json:"enabled,omitempty" default:"true"`
	Version int   `json:"version,omitempty" readonly:"true"`
}

// JobChange is the body of PUT /jobs/{id}.
type JobChange struct {
	JobSettings
	// Version is the one that was edited; If-Match may name it instead.
	Version *int `json:"version,omitempty" minimum:"1"`
}

// JobSettings is what both have in common. A field that is absent or null is at its
// default.
type JobSettings struct {
	// Name is unique in the group.
	Name string `json:"name" maxLength:"100"`
	// Description is for people.
	Description string `json:"description,omitempty" maxLength:"2000"`
	// Group comes into being with its first job.
	Group *string `json:"group,omitempty" maxLength:"100" default:"default"`
	// Labels are the user's own: rules, routes and silences of alerts match them, firing does not depend on them.
	// At most 64, with keys of 63 and values of 255 characters, and 16 KiB of JSON in all.
	Labels map[string]string `json:"labels,omitempty"`
	// Owner says whom to ask.
	Owner string `json:"owner,omitempty" maxLength:"100"`
	// JobType is what a run does: call a service (HTTP), run a command (COMMAND), a
	// Go handler (CUSTOM) or the steps of a graph (WORKFLOW). CRON is the former name of COMMAND; it is taken, and
	// never shown.
	JobType string `json:"jobType" enums:"HTTP,COMMAND,CUSTOM,WORKFLOW,CRON"`
	// JobClass is the name of the handler of a CUSTOM job.
	JobClass string `json:"jobClass,omitempty" maxLength:"255"`
	// JobData is what the type needs: see HTTPDataBody, CommandDataBody, StepsBody for WORKFLOW, and for
	// CUSTOM the handler. At most 64 KiB; of a WORKFLOW 512 KiB.
	JobData DataForms `json:"jobData,omitempty"`
	// Schedule is when the job fires by itself; without one it never does.
	Schedule *ScheduleBody `json:"schedule,omitempty"`
	// Priority is that of waiting runs, 10 the most urgent.
	Priority int `json:"priority,omitempty" minimum:"1" maximum:"10" default:"5"`
	// TimeoutSec ends an attempt that runs longer, as TIMEOUT; 0 is no limit, and for a
	// synchronous HTTP call that of the setting executor.http.timeoutSec.
	TimeoutSec int `json:"timeoutSec,omitempty" minimum:"0" maximum:"604800" default:"0"`
	// StartDeadlineSec gives a run up that has not started so long after it was due;
	// 0 is never.
	StartDeadlineSec int       `json:"startDeadlineSec,omitempty" minimum:"0" maximum:"604800" default:"0"`
	RetryPolicy      RetryBody `json:"retryPolicy,omitempty"`
	// OverlapPolicy is what becomes of a fire while the one before it is not over:
	// run beside it, wait, be dropped, or take its place.
	OverlapPolicy string `json:"overlapPolicy,omitempty" enums:"PARALLEL,SERIAL,DISCARD,REPLACE" default:"PARALLEL"`
	// MaxConcurrency is how many fires of the job run at once under PARALLEL; 0 is
	// any number.
	MaxConcurrency int `json:"maxConcurrency,omitempty" minimum:"0" maximum:"10000" default:"0"`
	// MaxQueued is how many fires may wait for those before them; a further one is
	// SKIPPED.
	MaxQueued int `json:"maxQueued,omitempty" minimum:"0" maximum:"100000" default:"100"`
	// ShardCount is how many runs a fire has, each with its shardIndex.
	ShardCount int `json:"shardCount,omitempty" minimum:"1" maximum:"1024" default:"1"`
	// Broadcast gives a fire a run on each node that fits, or on each such worker of routing.workers, instead of
	// shardCount.
	Broadcast bool        `json:"broadcast,omitempty" default:"false"`
	Routing   RoutingBody `json:"routing,omitempty"`
	// OnNodeLoss says whether a run whose node is lost or stopped is run again, or
	// has failed.
	OnNodeLoss string `json:"onNodeLoss,omitempty" enums:"RETRY,FAIL" default:"RETRY"`
	// Alerts are the names of channels that are told of its runs: see docs/alerts.md.
	Alerts AlertsBody `json:"alerts,omitempty"`
	// Deadline is the time of the day by which a planned fire is to have succeeded.
	Deadline *DeadlineBody `json:"deadline,omitempty"`
	// Parameters declare what ${params.NAME} stands for. A trigger may name these alone, of
	// their types; runs that are given no value have the default. Without any declaration a
	// trigger may name whatever it likes.
	Parameters []ParameterBody `json:"parameters,omitempty" maxItems:"50"`
	// Next are the jobs that the end of a fire starts; a plain name means on SUCCESS. See docs/chains.md.
	Next         []NextBody       `json:"next,omitempty" maxItems:"20"`
	ID           string           `json:"id,omitempty" readonly:"true"`
	Status       entity.JobStatus `json:"status,omitempty" readonly:"true"`
	NextFireTime time.Time        `json:"nextFireTime,omitempty" format:"date-time" readonly:"true"`
	LastFireTime time.Time        `json:"lastFireTime,omitempty" format:"date-time" readonly:"true"`
	CreateTime   time.Time        `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime   time.Time        `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
	Warnings     []any            `json:"warnings,omitempty" swaggertype:"array,object" readonly:"true"`
	Unreadable   string           `json:"unreadable,omitempty" readonly:"true"`
	StartedBy    []string         `json:"startedBy,omitempty" readonly:"true"`
	PausedAt     time.Time        `json:"pausedAt,omitempty" format:"date-time" readonly:"true"`
	PausedBy     string           `json:"pausedBy,omitempty" readonly:"true"`
	PausedUntil  time.Time        `json:"pausedUntil,omitempty" format:"date-time" readonly:"true"`
	PauseReason  string           `json:"pauseReason,omitempty" readonly:"true"`
	PauseUser    string           `json:"pauseUser,omitempty" readonly:"true"`
}

// job is the job of which this was said. timeZone is for a schedule without one.
func (s *JobSettings) job(timeZone string) *entity.Job {
	j := &entity.Job{
		Name: s.Name, Description: s.Description, Group: or(s.Group, validation.DefaultGroup),
		Labels: s.Labels, Owner: s.Owner,
		Type: entity.JobType(s.JobType), Class: s.JobClass, Data: cmp.Or(s.JobData.text, "{}"),
		Priority: s.Priority, TimeoutSec: s.TimeoutSec, StartDeadlineSec: s.StartDeadlineSec, Retry: s.RetryPolicy.policy(),
		Overlap: entity.OverlapPolicy(s.OverlapPolicy), MaxConcurrency: s.MaxConcurrency,
		MaxQueued: s.MaxQueued, ShardCount: s.ShardCount, Broadcast: s.Broadcast,
		Routing: entity.Routing{
			Strategy: entity.RoutingStrategy(s.Routing.Strategy), Labels: s.Routing.Labels, Workers: s.Routing.Workers,
		},
		OnNodeLoss: entity.OnNodeLoss(s.OnNodeLoss),
		Alerts: entity.JobAlerts{
			OnFailure: s.Alerts.OnFailure, OnSuccess: s.Alerts.OnSuccess, OnEnd: s.Alerts.OnEnd,
			OnLate: s.Alerts.OnLate, OnRecovered: s.Alerts.OnRecovered, LateAfterSec: s.Alerts.LateAfterSec,
		},
	}
	if d := s.Deadline; d != nil {
		j.Deadline = entity.JobDeadline{At: d.At, TimeZone: or(d.TimeZone, ""), OnMiss: entity.OnMiss(d.OnMiss)}
	}
	for _, p := range s.Parameters {
		j.Parameters = append(j.Parameters, entity.JobParameter{
			Name: p.Name, Type: entity.ParameterType(p.Type), Default: json.RawMessage(p.Default),
			Required: p.Required, Description: p.Description, Values: p.Values,
		})
	}
	for _, n := range s.Next {
		next := entity.Next{Name: n.Job, On: entity.NextOn(n.On)}
		if n.Params != "" { // an empty text is no JSON
			next.Params = json.RawMessage(n.Params)
		}
		j.Next = append(j.Next, next)
	}
	if j.Type == FormerCommand {
		j.Type = entity.JobCommand
	}
	plan := s.Schedule
	if plan == nil {
		none := atDefaults[ScheduleBody]()
		none.Kind, plan = string(schedule.None), &none
	}
	j.Schedule, j.Misfire = plan.spec(timeZone), plan.misfire()
	return j
}

// ScheduleBody is when a job fires, and what happens to missed fires.
type ScheduleBody struct {
	ScheduleTimes
	// MisfirePolicy decides on fires that could not be fired in time: run the latest
	// one, none, or all.
	MisfirePolicy string `json:"misfirePolicy,omitempty" enums:"FIRE_ONCE,SKIP,FIRE_ALL" default:"FIRE_ONCE"`
	// MisfireThresholdSec is how late a fire may be and not count as missed.
	MisfireThresholdSec int `json:"misfireThresholdSec,omitempty" minimum:"0" maximum:"86400" default:"60"`
	// MisfireWindowSec is how far back missed fires are run; older ones are SKIPPED, with an alert.
	// FIRE_ALL has 86,400 where nothing is said.
	MisfireWindowSec *int64 `json:"misfireWindowSec,omitempty" minimum:"0" maximum:"31536000" default:"31536000"`
	// MisfireMaxFires is the most missed fires that FIRE_ALL runs.
	MisfireMaxFires int `json:"misfireMaxFires,omitempty" minimum:"1" maximum:"10000" default:"1000"`
}

func (s *ScheduleBody) misfire() entity.Misfire {
	policy := entity.MisfirePolicy(s.MisfirePolicy)
	return entity.Misfire{
		Policy: policy, ThresholdSec: s.MisfireThresholdSec,
		WindowSec: int(or(s.MisfireWindowSec, int64(validation.MisfireWindowSec(policy)))), MaxFires: s.MisfireMaxFires,
	}
}

// ScheduleTimes says when a job fires.
type ScheduleTimes struct {
	// Kind is CRON where a schedule does not say it.
	Kind string `json:"kind,omitempty" enums:"CRON,FIXED_RATE,FIXED_DELAY,ONCE,NONE" default:"CRON"`
	// CronExpression is needed by CRON.
	CronExpression string `json:"cronExpression,omitempty"`
	// Dialect QUARTZ begins with the seconds, UNIX with the minutes.
	Dialect string `json:"dialect,omitempty" enums:"QUARTZ,UNIX" default:"QUARTZ"`
	// IntervalMs is needed by FIXED_RATE and FIXED_DELAY: 100 ms to 3,660 days.
	IntervalMs int64 `json:"intervalMs,omitempty" minimum:"0"`
	// At is needed by ONCE.
	At time.Time `json:"at,omitempty" format:"date-time"`
	// TimeZone is an IANA name; absent, it is that of the server's configuration.
	TimeZone *string `json:"timeZone,omitempty"`
	// StartTime is the first moment at which the job fires.
	StartTime time.Time `json:"startTime,omitempty" format:"date-time"`
	// EndTime is the last moment at which the job fires.
	EndTime time.Time `json:"endTime,omitempty" format:"date-time"`
	// JitterMs bounds the delay of each start, in milliseconds. The delay is constant for
	// the job, so that jobs of one moment do not start at once.
	JitterMs int64 `json:"jitterMs,omitempty" minimum:"0" default:"0"`
	// DSTGap says what becomes of times that the change of the clocks leaves out.
	DSTGap string `json:"dstGap,omitempty" enums:"NEXT_VALID,SKIP" default:"NEXT_VALID"`
	// DSTOverlap says at which of two times a job fires that the change of the clocks
	// makes of one.
	DSTOverlap string `json:"dstOverlap,omitempty" enums:"FIRST,BOTH" default:"FIRST"`
}

func (s *ScheduleTimes) spec(timeZone string) schedule.Spec {
	return schedule.Spec{
		Kind: schedule.Kind(s.Kind), CronExpression: s.CronExpression, Dialect: cronexpr.Dialect(s.Dialect),
		IntervalMs: s.IntervalMs, At: s.At,
		TimeZone: or(s.TimeZone, cmp.Or(timeZone, validation.DefaultTimeZone)), StartTime: s.StartTime,
		EndTime: s.EndTime, JitterMs: s.JitterMs,
		DstGap: cronexpr.Gap(s.DSTGap), DstOverlap: cronexpr.Overlap(s.DSTOverlap),
	}
}

// RetryBody is how a failed run is repeated.
type RetryBody struct {
	// MaxRetries 0 is none: the run is FAILED, and no dead letter.
	MaxRetries int `json:"maxRetries,omitempty" minimum:"0" maximum:"1000" default:"0"`
	// Backoff says how the wait grows: not, by intervalMs, or twofold.
	Backoff string `json:"backoff,omitempty" enums:"FIXED,LINEAR,EXPONENTIAL" default:"FIXED"`
	// IntervalMs is the first wait.
	IntervalMs int64 `json:"intervalMs,omitempty" minimum:"0" maximum:"86400000" default:"1000"`
	// MaxIntervalMs is the longest wait, at least intervalMs; also where the target of a call asks for a longer one.
	MaxIntervalMs *int64 `json:"maxIntervalMs,omitempty" minimum:"0" maximum:"86400000" default:"60000"`
	// Jitter is the share by which each wait is drawn shorter or longer.
	Jitter float64 `json:"jitter,omitempty" minimum:"0" maximum:"1" default:"0.1"`
	// NoRetryOn names reasons that a repetition does not mend, such as INVALID.
	NoRetryOn []string `json:"noRetryOn,omitempty"`
}

func (s *RetryBody) policy() entity.RetryPolicy {
	p := entity.RetryPolicy{
		MaxRetries: s.MaxRetries, Backoff: entity.Backoff(s.Backoff), IntervalMs: s.IntervalMs,
		// A longest wait that nobody named must not forbid a longer first one.
		MaxIntervalMs: or(s.MaxIntervalMs, max(validation.DefaultRetryMaxIntervalMs, s.IntervalMs)),
		Jitter:        s.Jitter,
	}
	for _, reason := range s.NoRetryOn {
		p.NoRetryOn = append(p.NoRetryOn, entity.Reason(reason))
	}
	return p
}

// RoutingBody is where a job runs.
type RoutingBody struct {
	// Strategy chooses among the nodes that fit; ANY leaves it to whoever is free.
	Strategy string `json:"strategy,omitempty" enums:"ANY,ROUND_ROBIN,RANDOM,WEIGHTED,LEAST_LOADED,CONSISTENT_HASH,FIRST,LAST,LFU,LRU,FAILOVER,BUSY_OVER" default:"ANY"`
	// Labels are those that a node, or a worker, must carry.
	Labels map[string]string `json:"labels,omitempty"`
	// Workers is the worker group whose workers run the job, instead of nodes. It must serve the job's group, and for a
	// command allow commands. Nodes run a job that names none.
	Workers string `json:"workers,omitempty" minLength:"1" maxLength:"32"`
}

// AlertsBody names channels. Each kind of news goes to each of them at most once a minute.
type AlertsBody struct {
	// OnFailure is told when a run has failed for good.
	OnFailure []string `json:"onFailure,omitempty"`
	// OnSuccess is told when a run has succeeded.
	OnSuccess []string `json:"onSuccess,omitempty"`
	// OnEnd is told of successes and of failures.
	OnEnd []string `json:"onEnd,omitempty"`
	// OnLate is told when a fire did not run, and of the deadline.
	OnLate []string `json:"onLate,omitempty"`
	// OnRecovered is told of the first success after a failure.
	OnRecovered []string `json:"onRecovered,omitempty"`
	// LateAfterSec is how late a fire may be until onLate is told, at least 30 s; 0 is the
	// grace of the cluster.
	LateAfterSec int `json:"lateAfterSec,omitempty" minimum:"0" maximum:"604800" default:"0"`
}

// DeadlineBody is a time of the day.
type DeadlineBody struct {
	// At is the time of the day, as 06:00 or 06:00:30: the first one after the scheduled
	// time of the fire.
	At string `json:"at"`
	// TimeZone is an IANA name; absent, it is that of the schedule.
	TimeZone *string `json:"timeZone,omitempty"`
	// OnMiss CANCEL stops what still runs at the deadline; both raise an alert.
	OnMiss string `json:"onMiss,omitempty" enums:"ALERT,CANCEL" default:"ALERT"`
}

// ParameterBody is a parameter that a job declares.
type ParameterBody struct {
	// Name is unique in the job: letters, digits, _ and -.
	Name string `json:"name" maxLength:"64"`
	// Type is that of the values. DATE is 2026-11-22, DATETIME is RFC 3339.
	Type string `json:"type,omitempty" enums:"STRING,INTEGER,NUMBER,BOOLEAN,ENUM,DATE,DATETIME" default:"STRING"`
	// Default is the value of runs that are given none, those of the schedule as well; null is none.
	Default rawValue `json:"default,omitempty" swaggertype:"object" extensions:"x-nullable"`
	// Required refuses a trigger without a value, where there is no default.
	Required bool `json:"required,omitempty" default:"false"`
	// Description is for people.
	Description string `json:"description,omitempty" maxLength:"500"`
	// Values are those that an ENUM has.
	Values []string `json:"values,omitempty" maxItems:"100"`
}

// NextBody is a job that is started at the end of a fire.
type NextBody struct {
	// Job is the name of a job of the same group, or group/name.
	Job string `json:"job" maxLength:"201" validate:"required"`
	// On says which end starts it: success; FAILED, TIMEOUT or DEAD; or either, and CANCELLED.
	On string `json:"on,omitempty" enums:"SUCCESS,FAILURE,END" default:"SUCCESS"`
	// Params are those of the run that is started, with placeholders of the one that ended.
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
}

func (NextBody) shortFor() string { return "job" }

// or is what was given, or else the default.
func or[T any](given *T, standard T) T {
	if given == nil {
		return standard
	}
	return *given
}
