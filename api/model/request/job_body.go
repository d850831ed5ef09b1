package request

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// JobBody documents the body of POST /jobs.
type JobBody struct {
	JobSettings
	// Enabled false leaves the job CREATED.
	Enabled bool `json:"enabled,omitempty" default:"true"`
	Version int  `json:"version,omitempty" readonly:"true"`
}

// JobChange documents the body of PUT /jobs/{id}.
type JobChange struct {
	JobSettings
	// Version is the one that was edited; If-Match may name it instead.
	Version int `json:"version,omitempty" minimum:"1"`
}

// JobSettings documents what both have in common. What is absent or null is at
// its default.
type JobSettings struct {
	Name        string `json:"name" maxLength:"100"`
	Description string `json:"description,omitempty" maxLength:"2000"`
	// Group and name of a job are unique together.
	Group  string            `json:"group,omitempty" maxLength:"100" default:"default"`
	Labels map[string]string `json:"labels,omitempty"`
	Owner  string            `json:"owner,omitempty" maxLength:"100"`
	// JobType COMMAND is another name of CRON, a crontab-style command.
	JobType string `json:"jobType" enums:"HTTP,CRON,CUSTOM,COMMAND"`
	// JobClass is the handler of a CUSTOM job.
	JobClass string `json:"jobClass,omitempty" maxLength:"255"`
	// JobData is what the type needs: url and method of a call, argv of a
	// command, parameters of a handler. At most 64 KiB.
	JobData  map[string]any `json:"jobData,omitempty"`
	Schedule ScheduleBody   `json:"schedule,omitempty"`
	// Priority 10 is most urgent.
	Priority int `json:"priority,omitempty" minimum:"1" maximum:"10" default:"5"`
	// TimeoutSec 0 is no limit.
	TimeoutSec       int       `json:"timeoutSec,omitempty" minimum:"0" maximum:"604800"`
	StartDeadlineSec int       `json:"startDeadlineSec,omitempty" minimum:"0" maximum:"604800"`
	RetryPolicy      RetryBody `json:"retryPolicy,omitempty"`
	OverlapPolicy    string    `json:"overlapPolicy,omitempty" enums:"PARALLEL,SERIAL,DISCARD,REPLACE" default:"PARALLEL"`
	// MaxConcurrency 0 is any number under PARALLEL.
	MaxConcurrency int              `json:"maxConcurrency,omitempty" minimum:"0" maximum:"10000"`
	MaxQueued      int              `json:"maxQueued,omitempty" minimum:"0" maximum:"100000" default:"100"`
	ShardCount     int              `json:"shardCount,omitempty" minimum:"1" maximum:"1024" default:"1"`
	Broadcast      bool             `json:"broadcast,omitempty"`
	Routing        RoutingBody      `json:"routing,omitempty"`
	OnNodeLoss     string           `json:"onNodeLoss,omitempty" enums:"RETRY,FAIL" default:"RETRY"`
	ID             string           `json:"id,omitempty" readonly:"true"`
	Status         entity.JobStatus `json:"status,omitempty" readonly:"true"`
	NextFireTime   time.Time        `json:"nextFireTime,omitempty" format:"date-time" readonly:"true"`
	LastFireTime   time.Time        `json:"lastFireTime,omitempty" format:"date-time" readonly:"true"`
	CreateTime     time.Time        `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime     time.Time        `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ScheduleBody documents when a job fires, and what happens to missed fires.
type ScheduleBody struct {
	ScheduleTimes
	MisfirePolicy       string `json:"misfirePolicy,omitempty" enums:"FIRE_ONCE,SKIP,FIRE_ALL" default:"FIRE_ONCE"`
	MisfireThresholdSec int    `json:"misfireThresholdSec,omitempty" minimum:"0" maximum:"86400" default:"60"`
	MisfireWindowSec    int    `json:"misfireWindowSec,omitempty" minimum:"0" maximum:"31536000" default:"86400"`
	MisfireMaxFires     int    `json:"misfireMaxFires,omitempty" minimum:"1" maximum:"10000" default:"1000"`
}

// ScheduleTimes documents what says when a job fires.
type ScheduleTimes struct {
	Kind           string    `json:"kind,omitempty" enums:"CRON,FIXED_RATE,FIXED_DELAY,ONCE,NONE" default:"CRON"`
	CronExpression string    `json:"cronExpression,omitempty"`
	Dialect        string    `json:"dialect,omitempty" enums:"QUARTZ,UNIX" default:"QUARTZ"`
	IntervalMs     int64     `json:"intervalMs,omitempty" minimum:"0"`
	At             time.Time `json:"at,omitempty" format:"date-time"`
	// TimeZone is an IANA name; absent, it is that of the server's configuration.
	TimeZone   string    `json:"timeZone,omitempty"`
	StartTime  time.Time `json:"startTime,omitempty" format:"date-time"`
	EndTime    time.Time `json:"endTime,omitempty" format:"date-time"`
	JitterMs   int64     `json:"jitterMs,omitempty" minimum:"0"`
	DSTGap     string    `json:"dstGap,omitempty" enums:"NEXT_VALID,SKIP" default:"NEXT_VALID"`
	DSTOverlap string    `json:"dstOverlap,omitempty" enums:"FIRST,BOTH" default:"FIRST"`
}

// RetryBody documents how a failed run is repeated.
type RetryBody struct {
	MaxRetries int    `json:"maxRetries,omitempty" minimum:"0" maximum:"1000"`
	Backoff    string `json:"backoff,omitempty" enums:"FIXED,LINEAR,EXPONENTIAL" default:"FIXED"`
	IntervalMs int64  `json:"intervalMs,omitempty" minimum:"0" maximum:"86400000" default:"1000"`
	// MaxIntervalMs is at least intervalMs.
	MaxIntervalMs int64   `json:"maxIntervalMs,omitempty" minimum:"0" maximum:"86400000" default:"60000"`
	Jitter        float64 `json:"jitter,omitempty" minimum:"0" maximum:"1" default:"0.1"`
	// NoRetryOn names reasons that a repetition does not mend.
	NoRetryOn []string `json:"noRetryOn,omitempty"`
}

// RoutingBody documents where a job runs.
type RoutingBody struct {
	Strategy string            `json:"strategy,omitempty" enums:"ANY,ROUND_ROBIN,RANDOM,WEIGHTED,LEAST_LOADED,CONSISTENT_HASH,FIRST,LAST,LFU,LRU,FAILOVER,BUSY_OVER" default:"ANY"`
	Labels   map[string]string `json:"labels,omitempty"`
}
