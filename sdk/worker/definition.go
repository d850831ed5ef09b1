package worker

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// Executor runs jobs by their definitions, as a server runs those of the types COMMAND and HTTP. It is safe for
// concurrent use.
type Executor interface {
	// Run runs one attempt. It returns when nothing of it works any more, soon after ctx is cancelled. entity.MayAct
	// tells of ctx whether this worker still has its lease.
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// reporter is the attempt as an Executor sees it.
type reporter struct{ *attempt }

// Log implements entity.Reporter.
func (r reporter) Log(_ entity.LogType, line string) { r.attempt.Log(line) }

// Waits implements entity.Reporter. The time of the attempt goes on: it is the server's.
func (r reporter) Waits() (begins func()) { return func() {} }

// definition is the run of a job as a server would run it. Its id, its numbers and its trace come out as delivered.
func (a *attempt) definition(now time.Time) entity.Run {
	d, params := a.data, string(a.data.Params)
	if params == "{}" || params == "null" {
		params = "" // nothing was given
	}
	x := &entity.Execution{
		ID: d.ExecutionID, JobID: d.JobID, Attempt: d.Attempt, Token: d.Token, RootID: d.IdempotencyKey,
		ScheduledTime: d.ScheduledTime.UTC(), DueTime: d.ScheduledTime.UTC(), Params: params, Checkpoint: d.Checkpoint,
		ShardIndex: d.ShardIndex, ShardTotal: d.ShardTotal, Parent: entity.TraceContext(d.TraceParent),
	}
	if d.FencingToken != d.Token {
		x.JobFence = d.FencingToken >> 16 // see entity.Execution.FencingToken
	}
	run := entity.Run{
		Job: &entity.Job{
			ID: d.JobID, Name: d.JobName, Group: d.Group, Owner: d.Owner, Type: entity.JobType(d.Kind), Data: string(d.Data),
			TimeoutSec: int((millis(d.TimeoutMs) + time.Second - 1) / time.Second),
		},
		Execution: x, Filled: true,
	}
	if d.TimeoutMs > 0 {
		run.Deadline = now.Add(millis(d.TimeoutMs)).UTC()
	}
	return run
}

// failures are the reasons of a failure that a worker may report; ERROR is what others are.
var failures = []entity.Reason{
	entity.ReasonPanic, entity.ReasonExitCode, entity.ReasonHTTPStatus, entity.ReasonBodyMismatch, entity.ReasonRedirected,
	entity.ReasonInvalid,
}

// reasonOf is the reason of a failure for a server; empty stands for ERROR.
func reasonOf(o entity.Outcome) string {
	if o.Status == entity.StatusFailed && slices.Contains(failures, o.Reason) {
		return string(o.Reason)
	}
	return ""
}

// LeaseLeft is for how long this worker may still act: what runs ends by then, unless a server takes its beats again.
// It is 0 where no server knows the worker. A helper that outlives a frozen worker is told so.
func (w *Worker) LeaseLeft() time.Duration {
	w.mu.Lock()
	l := w.life
	w.mu.Unlock()
	if l == nil {
		return 0
	}
	return l.leaseLeft()
}

func (l *life) leaseLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.ended || l.state.Over(now) {
		return 0
	}
	return time.Duration(l.state.Until() - now)
}

// States of a worker, for people and for health checks.
const (
	StateStarting = "STARTING"
	StateUp       = "UP"
	StateDraining = "DRAINING"
)

// State is what a worker is doing.
type State struct {
	State string `json:"state"`
	// ID and Epoch are those of its life; empty before a server has registered it.
	ID          string `json:"id,omitempty"`
	Epoch       int64  `json:"epoch,omitempty"`
	LeaseLeftMs int64  `json:"leaseLeftMs"`
	// Running counts runs, Commands those of them that are commands.
	Running  int `json:"running"`
	Commands int `json:"commands"`
}

// State tells what this worker is doing.
func (w *Worker) State() State {
	left := w.LeaseLeft()
	w.mu.Lock()
	l, working := w.life, w.working
	w.mu.Unlock()
	commands := working[attempts.Command]
	s := State{State: StateStarting, Running: working[attempts.General] + commands, Commands: commands}
	if l == nil || left <= 0 {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.State, s.ID, s.Epoch, s.LeaseLeftMs = StateUp, l.id, l.epoch, left.Milliseconds()
	if l.stopping || l.drained {
		s.State = StateDraining
	}
	return s
}
