package alert

import (
	"slices"
	"time"
)

// RuleType says what a rule looks for.
type RuleType string

// The types. A comment says what evidence there is.
const (
	// Of the end of an execution.
	JobFailed           RuleType = "JOB_FAILED"
	JobSucceeded        RuleType = "JOB_SUCCEEDED"
	Recovered           RuleType = "RECOVERED"
	ConsecutiveFailures RuleType = "CONSECUTIVE_FAILURES"
	FailureRate         RuleType = "FAILURE_RATE"
	Timeout             RuleType = "TIMEOUT"
	DeadLetter          RuleType = "DEAD_LETTER"
	Expression          RuleType = "EXPRESSION"
	// Of a finding: something unusual for the job.
	SlowRun         RuleType = "SLOW_RUN"
	FasterThanUsual RuleType = "FASTER_THAN_USUAL"
	FailingMore     RuleType = "FAILING_MORE"
	DeadlineAtRisk  RuleType = "DEADLINE_AT_RISK"
	// Of the state of jobs, queues, nodes and of the cluster.
	NotFired       RuleType = "NOT_FIRED"
	DeadlineMissed RuleType = "DEADLINE_MISSED"
	Lateness       RuleType = "LATENESS"
	QueueDepth     RuleType = "QUEUE_DEPTH"
	NoNode         RuleType = "NO_NODE"
	NodeSuspect    RuleType = "NODE_SUSPECT"
	NodeDown       RuleType = "NODE_DOWN"
	ClockSkew      RuleType = "CLOCK_SKEW"
	Degraded       RuleType = "DEGRADED"
	NothingRan     RuleType = "NOTHING_RAN"
	WorkersFew     RuleType = "WORKERS_FEW"
	Watchdog       RuleType = "WATCHDOG"
	// Of a workflow run that stands for people.
	StepHeld        RuleType = "STEP_HELD"
	ApprovalWaiting RuleType = "APPROVAL_WAITING"
	// Of a channel: one of its notifications is DEAD.
	DeliveryFailed RuleType = "DELIVERY_FAILED"
)

// RuleTypes lists every type.
func RuleTypes() []RuleType {
	return []RuleType{
		JobFailed, JobSucceeded, Recovered, NoNode, NodeSuspect, FailingMore, FasterThanUsual, DeadlineAtRisk, Watchdog,
		DeadlineMissed, ConsecutiveFailures, FailureRate, Timeout, SlowRun, NotFired, Lateness, QueueDepth, DeadLetter,
		NodeDown, ClockSkew, Degraded, NothingRan, WorkersFew, Expression, DeliveryFailed, StepHeld, ApprovalWaiting,
	}
}

// Stands reports whether an alert of the type goes on while a workflow run stands for people, and no longer.
func (t RuleType) Stands() bool { return t == StepHeld || t == ApprovalWaiting }

// SeesSteps reports whether rules of the type may see the steps of workflows.
func (t RuleType) SeesSteps() bool {
	return slices.Contains([]RuleType{
		JobFailed, Recovered, ConsecutiveFailures, FailureRate, Timeout, DeadLetter, Expression, SlowRun, FasterThanUsual,
		FailingMore, NoNode,
	}, t)
}

// IsLevel reports whether the condition is a state that is looked at again and again,
// and not something that happens.
func (t RuleType) IsLevel() bool {
	return slices.Contains([]RuleType{
		NotFired, Lateness, QueueDepth, NoNode, NodeSuspect, NodeDown, ClockSkew, Degraded, NothingRan, WorkersFew,
		Watchdog,
	}, t)
}

// IsMomentary reports whether the type tells of something that is over at once.
func (t RuleType) IsMomentary() bool { return t == JobSucceeded || t == Recovered }

// AboutJobs reports whether the alerts of the type are about single jobs.
func (t RuleType) AboutJobs() bool {
	return !slices.Contains([]RuleType{
		Lateness, QueueDepth, NodeSuspect, NodeDown, ClockSkew, Degraded, NothingRan, WorkersFew, Watchdog,
		DeliveryFailed,
	}, t)
}

// Notify says which evidence of an episode is worth a message.
type Notify string

// The ways; FIRST is the default.
const (
	NotifyFirst Notify = "FIRST"
	// NotifyEach tells of each piece of evidence, at most once a minute an alert.
	NotifyEach Notify = "EACH"
)

// Rule says what is worth an alert, and where it goes.
type Rule struct {
	Head
	Type  RuleType `json:"type"`
	Level Level    `json:"level"`
	Scope Scope    `json:"scope" validate:"optional"`
	// Threshold has the unit of the type: runs, a share from 0 to 1, seconds, or a count.
	Threshold float64 `json:"threshold" validate:"optional"`
	// WindowSec is the span, in seconds, that FAILURE_RATE and NOTHING_RAN look at.
	WindowSec int `json:"windowSec" validate:"optional" maximum:"2592000"`
	// ForSec is how long a level must hold before the alert fires; 0 is at once.
	ForSec int `json:"forSec" validate:"optional" minimum:"0" maximum:"2592000"`
	// KeepSec is how long a level must be below the line before the alert resolves; 0 is
	// two evaluations.
	KeepSec int `json:"keepSec" validate:"optional" minimum:"0" maximum:"2592000"`
	// ResolveAfterSec ends an episode of events after so long without another; 0 is a day.
	ResolveAfterSec int    `json:"resolveAfterSec" validate:"optional" minimum:"0" maximum:"2592000"`
	Notify          Notify `json:"notify" validate:"optional" enums:"FIRST,EACH" default:"FIRST"`
	Expression      string `json:"expression" validate:"optional" maxLength:"4096"`
	// ChannelIDs are channels of the group, or for all groups.
	ChannelIDs []string `json:"channelIds" validate:"optional" maxItems:"100"`
	// Actions are what the rule does when an alert of it fires; none by default.
	Actions []RuleAction `json:"actions" swaggerignore:"true"`
	// EditorID is the user who saved the rule last; empty for a rule of the first start. The actions have the rights
	// of that user, judged when they act.
	EditorID string `json:"editorId" validate:"optional" readonly:"true"`
	// Labels are added to those of the alert.
	Labels map[string]string `json:"labels" validate:"optional"`
	// Default names the rule of the first start that it is, which cannot be deleted; empty for all others.
	Default string `json:"default" validate:"optional" readonly:"true"`
	// SuspendedUntil is when the rule works again that cost too much; zero: it works. It is no
	// part of what people define, and is filled in where a rule is shown.
	SuspendedUntil time.Time `json:"-"`
}

// ResolveAfter is how long an episode of events goes on without another.
func (r *Rule) ResolveAfter() time.Duration {
	if r.ResolveAfterSec == 0 {
		return 24 * time.Hour
	}
	return time.Duration(r.ResolveAfterSec) * time.Second
}

// Keep is how long a level must be below the line; rules are evaluated at that interval.
func (r *Rule) Keep(interval time.Duration) time.Duration {
	if r.KeepSec == 0 {
		return 2 * interval
	}
	return time.Duration(r.KeepSec) * time.Second
}

// Scope says which jobs a rule sees: those that all parts name. An empty part names all.
type Scope struct {
	JobIDs []string          `json:"jobIds" validate:"optional" maxItems:"500"`
	Groups []string          `json:"groups" validate:"optional" maxItems:"100"`
	Labels map[string]string `json:"labels" validate:"optional"`
	// Steps: it also sees the steps of the workflows that it sees.
	Steps bool `json:"steps" validate:"optional" default:"false"`
}

// All reports whether the scope leaves nothing out.
func (s *Scope) All() bool { return len(s.JobIDs) == 0 && len(s.Groups) == 0 && len(s.Labels) == 0 }

// Sees reports whether the rule sees a job. One of a group sees only jobs of that group,
// whatever its scope says.
func (r *Rule) Sees(jobID, group string, labels map[string]string) bool {
	if r.Group != "" && r.Group != group {
		return false
	}
	if len(r.Scope.JobIDs) > 0 && !slices.Contains(r.Scope.JobIDs, jobID) {
		return false
	}
	if len(r.Scope.Groups) > 0 && !slices.Contains(r.Scope.Groups, group) {
		return false
	}
	return Matches(r.Scope.Labels, labels)
}

// SeesAnyOf reports whether the rule sees jobs of one of the groups.
func (r *Rule) SeesAnyOf(groups []string) bool {
	return r.Group == "" && len(r.Scope.Groups) == 0 ||
		slices.ContainsFunc(groups, func(group string) bool { return r.Sees("", group, nil) })
}

// Matches reports whether labels have each of the wanted values.
func Matches(want, labels map[string]string) bool {
	for name, value := range want {
		if have, ok := labels[name]; !ok || have != value {
			return false
		}
	}
	return true
}
