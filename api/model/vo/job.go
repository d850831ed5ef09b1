package vo

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// Definition is what people write of a job.
type Definition struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Group            string            `json:"group"`
	Labels           map[string]string `json:"labels"`
	Owner            string            `json:"owner"`
	JobType          entity.JobType    `json:"jobType"`
	JobClass         string            `json:"jobClass"`
	JobData          json.RawMessage   `json:"jobData" swaggertype:"object"`
	Schedule         Schedule          `json:"schedule"`
	Priority         int               `json:"priority"`
	TimeoutSec       int               `json:"timeoutSec"`
	StartDeadlineSec int               `json:"startDeadlineSec"`
	RetryPolicy      RetryPolicy       `json:"retryPolicy"`
	OverlapPolicy    string            `json:"overlapPolicy" enums:"PARALLEL,SERIAL,DISCARD,REPLACE"`
	MaxConcurrency   int               `json:"maxConcurrency"`
	MaxQueued        int               `json:"maxQueued"`
	ShardCount       int               `json:"shardCount"`
	Broadcast        bool              `json:"broadcast"`
	Routing          Routing           `json:"routing"`
	OnNodeLoss       string            `json:"onNodeLoss" enums:"RETRY,FAIL"`
	Alerts           JobAlerts         `json:"alerts"`
	// Deadline is null where there is none.
	Deadline *Deadline `json:"deadline" extensions:"x-nullable"`
	// Parameters are those that the job declares.
	Parameters []JobParameter `json:"parameters"`
	// Next are the jobs that the end of a fire starts.
	Next []Next `json:"next"`
}

// Next is a job that is started at the end of a fire.
type Next struct {
	// Job is group/name of the job, or its id where it is not there any more.
	Job string        `json:"job"`
	On  entity.NextOn `json:"on" enums:"SUCCESS,FAILURE,END"`
	// Params are null where the run is given none.
	Params json.RawMessage `json:"params" swaggertype:"object" extensions:"x-nullable"`
}

func fromNext(all []entity.Next) []Next {
	out := make([]Next, len(all))
	for i, n := range all {
		out[i] = Next{Job: cmp.Or(n.Name, n.Job), On: n.On, Params: n.Params}
	}
	return out
}

// JobParameter is a parameter that a job declares.
type JobParameter struct {
	Name string               `json:"name"`
	Type entity.ParameterType `json:"type"`
	// Default is a string, a number or a truth, and null where there is none.
	Default     any      `json:"default" extensions:"x-nullable"`
	Required    bool     `json:"required"`
	Description string   `json:"description"`
	Values      []string `json:"values"`
}

func fromParameters(all []entity.JobParameter) []JobParameter {
	out := make([]JobParameter, len(all))
	for i, p := range all {
		out[i] = JobParameter{
			Name: p.Name, Type: p.Type, Default: rawOrNull(string(p.Default)), Required: p.Required,
			Description: p.Description, Values: whole(p.Values),
		}
	}
	return out
}

// JobAlerts are the names of the channels that are told of the runs of a job.
type JobAlerts struct {
	OnFailure    []string `json:"onFailure"`
	OnSuccess    []string `json:"onSuccess"`
	OnEnd        []string `json:"onEnd"`
	OnLate       []string `json:"onLate"`
	OnRecovered  []string `json:"onRecovered"`
	LateAfterSec int      `json:"lateAfterSec"`
}

// Deadline is the time of the day by which a planned fire is to have succeeded.
type Deadline struct {
	At       string `json:"at"`
	TimeZone string `json:"timeZone"`
	OnMiss   string `json:"onMiss" enums:"ALERT,CANCEL"`
}

func fromAlerts(a entity.JobAlerts) JobAlerts {
	return JobAlerts{
		OnFailure: whole(a.OnFailure), OnSuccess: whole(a.OnSuccess), OnEnd: whole(a.OnEnd),
		OnLate: whole(a.OnLate), OnRecovered: whole(a.OnRecovered), LateAfterSec: a.LateAfterSec,
	}
}

func fromDeadline(d entity.JobDeadline) *Deadline {
	if d.At == "" {
		return nil
	}
	return &Deadline{At: d.At, TimeZone: d.TimeZone, OnMiss: string(d.OnMiss)}
}

// Job is a definition and its place in time.
type Job struct {
	ID string `json:"id"`
	Definition
	Status       entity.JobStatus `json:"status"`
	NextFireTime Time             `json:"nextFireTime" format:"date-time" extensions:"x-nullable"`
	LastFireTime Time             `json:"lastFireTime" format:"date-time" extensions:"x-nullable"`
	Version      int              `json:"version"`
	CreateTime   Time             `json:"createTime" format:"date-time"`
	UpdateTime   Time             `json:"updateTime" format:"date-time"`
	// Warnings say why runs of the job would wait for a node, and which secrets
	// stand in the definition. Absent for none, and in lists.
	Warnings []Warning `json:"warnings,omitempty"`
	// StartedBy names the jobs, as group/name, whose next names this one. Lists leave it out.
	StartedBy []string `json:"startedBy,omitempty"`
	// Unreadable says what of the stored job cannot be read and is shown empty; it
	// is empty for all others.
	Unreadable string `json:"unreadable"`
	// PausedBy is JOB where the job itself is paused, GROUP where its group holds
	// it, and empty where it is not paused.
	PausedBy string `json:"pausedBy" enums:",JOB,GROUP"`
	Pause
}

// Pause is what is known of a pause. All of it is empty or null where there is
// none.
type Pause struct {
	PausedAt Time `json:"pausedAt" format:"date-time" extensions:"x-nullable"`
	// PausedUntil is when the pause ends by itself; null: when somebody resumes.
	PausedUntil Time   `json:"pausedUntil" format:"date-time" extensions:"x-nullable"`
	PauseReason string `json:"pauseReason"`
	// PauseUser is the name of who paused; empty is the engine, or nobody knows.
	PauseUser string `json:"pauseUser"`
}

func fromPause(at time.Time, p entity.Pause) Pause {
	return Pause{PausedAt: Time(at), PausedUntil: Time(p.Until), PauseReason: p.Reason, PauseUser: p.User}
}

// Warning is about a definition that is right and will not work for now, or is
// not wise.
type Warning struct {
	Field   string `json:"field"`
	Code    string `json:"code" enums:"no_node,no_commands,no_handler,secret_in_clear,unknown_channel,channel_not_allowed,unknown_job,unknown_group,never_matches,missing_secret,ended,carriage_return,unknown_store"`
	Message string `json:"message"`
}

// FromWarnings makes the view of warnings; nil for none.
func FromWarnings(found []apperror.Field) []Warning {
	var out []Warning
	for _, f := range found {
		out = append(out, Warning{Field: f.Field, Code: f.Code, Message: f.Message})
	}
	return out
}

// Schedule is when a job fires, and what happens to fires that were missed.
type Schedule struct {
	Kind                string `json:"kind" enums:"CRON,FIXED_RATE,FIXED_DELAY,ONCE,NONE"`
	CronExpression      string `json:"cronExpression"`
	Dialect             string `json:"dialect" enums:"QUARTZ,UNIX"`
	IntervalMs          int64  `json:"intervalMs"`
	At                  Time   `json:"at" format:"date-time" extensions:"x-nullable"`
	TimeZone            string `json:"timeZone"`
	StartTime           Time   `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime             Time   `json:"endTime" format:"date-time" extensions:"x-nullable"`
	JitterMs            int64  `json:"jitterMs"`
	MisfirePolicy       string `json:"misfirePolicy" enums:"FIRE_ONCE,SKIP,FIRE_ALL"`
	MisfireThresholdSec int    `json:"misfireThresholdSec"`
	MisfireWindowSec    int    `json:"misfireWindowSec"`
	MisfireMaxFires     int    `json:"misfireMaxFires"`
	DSTGap              string `json:"dstGap" enums:"NEXT_VALID,SKIP"`
	DSTOverlap          string `json:"dstOverlap" enums:"FIRST,BOTH"`
}

// RetryPolicy is how a failed run is repeated.
type RetryPolicy struct {
	MaxRetries    int             `json:"maxRetries"`
	Backoff       string          `json:"backoff" enums:"FIXED,LINEAR,EXPONENTIAL"`
	IntervalMs    int64           `json:"intervalMs"`
	MaxIntervalMs int64           `json:"maxIntervalMs"`
	Jitter        float64         `json:"jitter"`
	NoRetryOn     []entity.Reason `json:"noRetryOn"`
}

// Routing is where a job runs.
type Routing struct {
	Strategy string            `json:"strategy" enums:"ANY,ROUND_ROBIN,RANDOM,WEIGHTED,LEAST_LOADED,CONSISTENT_HASH,FIRST,LAST,LFU,LRU,FAILOVER,BUSY_OVER"`
	Labels   map[string]string `json:"labels"`
	// Workers is the worker group whose workers run the job; it is left out where nodes do.
	Workers string `json:"workers,omitempty"`
}

// FromJob makes the view of a job.
func FromJob(j *entity.Job) Job {
	v := Job{
		ID: j.ID, Definition: fromDefinition(j), Status: j.Status, NextFireTime: Time(j.NextFireTime),
		LastFireTime: Time(j.LastFireTime),
		Version:      j.Version, CreateTime: Time(j.CreateTime), UpdateTime: Time(j.UpdateTime), Unreadable: j.Unreadable(),
	}
	if j.Status == entity.JobPaused {
		v.PausedBy, v.Pause = "JOB", fromPause(j.PausedAt, j.Pause)
		if j.PausedBy == entity.PausedByGroup {
			v.PausedBy = "GROUP"
		}
	}
	return v
}

func fromDefinition(j *entity.Job) Definition {
	return Definition{
		Name: j.Name, Description: j.Description, Group: j.Group, Labels: labels(j.Labels), Owner: j.Owner,
		JobType: j.Type, JobClass: j.Class, JobData: data(chain.WithoutIDs(j)),
		Schedule: fromSchedule(j), Priority: j.Priority, TimeoutSec: j.TimeoutSec, StartDeadlineSec: j.StartDeadlineSec,
		RetryPolicy: RetryPolicy{
			MaxRetries: j.Retry.MaxRetries, Backoff: string(j.Retry.Backoff), IntervalMs: j.Retry.IntervalMs,
			MaxIntervalMs: j.Retry.MaxIntervalMs, Jitter: j.Retry.Jitter, NoRetryOn: whole(j.Retry.NoRetryOn),
		},
		OverlapPolicy: string(j.Overlap), MaxConcurrency: j.MaxConcurrency, MaxQueued: j.MaxQueued,
		ShardCount: j.ShardCount, Broadcast: j.Broadcast,
		Routing: Routing{
			Strategy: string(j.Routing.Strategy), Labels: labels(j.Routing.Labels), Workers: j.Routing.Workers,
		},
		OnNodeLoss: string(j.OnNodeLoss), Alerts: fromAlerts(j.Alerts), Deadline: fromDeadline(j.Deadline),
		Parameters: fromParameters(j.Parameters), Next: fromNext(j.Next),
	}
}

func fromSchedule(j *entity.Job) Schedule {
	s := j.Schedule
	return Schedule{
		Kind: string(s.Kind), CronExpression: s.CronExpression, Dialect: string(s.Dialect),
		IntervalMs: s.IntervalMs, At: Time(s.At),
		TimeZone: s.TimeZone, StartTime: Time(s.StartTime), EndTime: Time(s.EndTime), JitterMs: s.JitterMs,
		MisfirePolicy: string(j.Misfire.Policy), MisfireThresholdSec: j.Misfire.ThresholdSec,
		MisfireWindowSec: j.Misfire.WindowSec, MisfireMaxFires: j.Misfire.MaxFires,
		DSTGap: string(s.DstGap), DSTOverlap: string(s.DstOverlap),
	}
}

func labels(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// data is stored JSON; what is not JSON would break the whole answer.
func data(s string) json.RawMessage {
	if !json.Valid([]byte(s)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

// JobVersion is the definition of a job under one of its versions.
type JobVersion struct {
	Version    int  `json:"version"`
	CreateTime Time `json:"createTime" format:"date-time"`
	// CreatedBy is the user who made it; empty where it is not known.
	CreatedBy string `json:"createdBy"`
	// Definition is what PUT takes.
	Definition Job `json:"definition"`
	// Changes holds [before, after] by field against the version before it;
	// null for the oldest of the page.
	Changes map[string][2]any `json:"changes" extensions:"x-nullable"`
}

// FromVersion makes the view of a version.
func FromVersion(j *entity.Job) JobVersion {
	return JobVersion{Version: j.Version, CreateTime: Time(j.UpdateTime), CreatedBy: j.ChangedBy, Definition: FromJob(j)}
}
