package entity

// JobType says which executor runs a job.
type JobType string

// The job types.
const (
	// JobHTTP calls a service.
	JobHTTP JobType = "HTTP"
	// JobCommand is a command or a script in an isolated process.
	JobCommand JobType = "COMMAND"
	// JobCustom runs a handler registered under the job's class.
	JobCustom JobType = "CUSTOM"
	// JobWorkflow is a graph of steps, each an execution of its own.
	JobWorkflow JobType = "WORKFLOW"
)

// JobStatus is the life of a definition.
type JobStatus string

// The states of a definition. Only an enabled job is planned.
const (
	JobCreated  JobStatus = "CREATED"
	JobEnabled  JobStatus = "ENABLED"
	JobPaused   JobStatus = "PAUSED"
	JobFinished JobStatus = "FINISHED"
)

// MisfirePolicy decides about fires that were missed by more than the
// threshold (engine rule 5).
type MisfirePolicy string

// The misfire policies; FIRE_ONCE is the default.
const (
	MisfireFireOnce MisfirePolicy = "FIRE_ONCE"
	MisfireSkip     MisfirePolicy = "SKIP"
	MisfireFireAll  MisfirePolicy = "FIRE_ALL"
)

// Misfire is a job's answer to missed fires.
type Misfire struct {
	Policy MisfirePolicy
	// ThresholdSec: a fire that is late by no more than this is an ordinary
	// late fire. 0–86,400.
	ThresholdSec int
	// WindowSec: FIRE_ALL and FIRE_ONCE run what was missed within this span before now.
	WindowSec int
	// MaxFires: FIRE_ALL runs at most the latest so many.
	MaxFires int
}

// OverlapPolicy decides what a fire does while an earlier one is live.
type OverlapPolicy string

// The overlap policies; PARALLEL is the default.
const (
	OverlapParallel OverlapPolicy = "PARALLEL"
	OverlapSerial   OverlapPolicy = "SERIAL"
	OverlapDiscard  OverlapPolicy = "DISCARD"
	OverlapReplace  OverlapPolicy = "REPLACE"
)

// Backoff is the growth of the wait between attempts.
type Backoff string

// The back-off shapes; FIXED is the default.
const (
	BackoffFixed       Backoff = "FIXED"
	BackoffLinear      Backoff = "LINEAR"
	BackoffExponential Backoff = "EXPONENTIAL"
)

// RetryPolicy says how often, and after what wait, a failed run is repeated.
type RetryPolicy struct {
	MaxRetries    int     `json:"maxRetries"`
	Backoff       Backoff `json:"backoff"`
	IntervalMs    int64   `json:"intervalMs"`
	MaxIntervalMs int64   `json:"maxIntervalMs"`
	// Jitter spreads each wait by ± this share, 0–1.
	Jitter float64 `json:"jitter"`
	// NoRetryOn lists reasons after which a run fails at once.
	NoRetryOn []Reason `json:"noRetryOn,omitempty"`
}

// RoutingStrategy chooses the node of a run.
type RoutingStrategy string

// The routing strategies; ANY (whoever is free) is the default.
const (
	RouteAny            RoutingStrategy = "ANY"
	RouteRoundRobin     RoutingStrategy = "ROUND_ROBIN"
	RouteRandom         RoutingStrategy = "RANDOM"
	RouteWeighted       RoutingStrategy = "WEIGHTED"
	RouteLeastLoaded    RoutingStrategy = "LEAST_LOADED"
	RouteConsistentHash RoutingStrategy = "CONSISTENT_HASH"
	RouteFirst          RoutingStrategy = "FIRST"
	RouteLast           RoutingStrategy = "LAST"
	RouteLFU            RoutingStrategy = "LFU"
	RouteLRU            RoutingStrategy = "LRU"
	RouteFailover       RoutingStrategy = "FAILOVER"
	RouteBusyOver       RoutingStrategy = "BUSY_OVER"
)

// Routing restricts a run to nodes that carry all the labels, and chooses one.
type Routing struct {
	Strategy RoutingStrategy   `json:"strategy"`
	Labels   map[string]string `json:"labels,omitempty"`
	// Workers is the worker group whose workers alone run the job; empty: nodes run it.
	Workers string `json:"workers,omitempty"`
}

// OnNodeLoss decides about a run whose node died.
type OnNodeLoss string

// The answers to the loss of a node; RETRY is the default.
const (
	NodeLossRetry OnNodeLoss = "RETRY"
	NodeLossFail  OnNodeLoss = "FAIL"
)
