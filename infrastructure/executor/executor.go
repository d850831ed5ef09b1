// Package executor runs claimed attempts: it hands each to the executor of its
// job's type and turns whatever happens there into one outcome.
package executor

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Executor runs the jobs of one type. It is safe for concurrent use.
type Executor interface {
	// Run runs one attempt and returns when it has ended. It gives up when ctx
	// is cancelled and then reports a failure with ReasonError; what that means
	// is decided by the cause of the cancellation. An attempt that cannot begin is
	// entity.NotBegun. Neither of its arguments may be changed.
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
	Checker
}

// Checker checks definitions of one type.
type Checker interface {
	// Check lists what is wrong with the executor's part of a definition, whose
	// data is a JSON object, in the field names of the API.
	Check(job *entity.Job) []apperror.Field
}

// DistributedExecutor runs attempts of every type that this node can run. It
// is safe for concurrent use.
type DistributedExecutor struct {
	executors map[entity.JobType]Executor
	elsewhere map[entity.JobType]Checker
}

// New returns a DistributedExecutor of these executors. Definitions of other
// types, whose runs wait for a node that can, are checked by those of elsewhere;
// a type in neither is refused, at the edge and at run time.
func New(executors map[entity.JobType]Executor, elsewhere map[entity.JobType]Checker) *DistributedExecutor {
	return &DistributedExecutor{executors: maps.Clone(executors), elsewhere: maps.Clone(elsewhere)}
}

// Run runs one attempt on the caller's goroutine and says what it came to. It
// returns only when the attempt has really ended, because the caller's slot is
// in use until then: an executor that ignores the cancellation of ctx holds it
// for as long as it likes. A panic of the executor ends in a failure with
// ReasonPanic. When ctx was cancelled, a failure without a more precise reason
// becomes what the cause of the cancellation says, one of the entity.ErrStop…
// errors; a success and a precise failure stand, and so does a run that was
// accepted elsewhere.
func (d *DistributedExecutor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) (outcome entity.Outcome) {
	executor := d.executors[run.Job.Type]
	if executor == nil {
		return entity.Failed(entity.ReasonInvalid, refusal(run.Job.Type))
	}
	defer func() {
		if value := recover(); value != nil {
			outcome = panicked(value, debug.Stack(), rep)
		}
	}()
	if !entity.MayAct(ctx) {
		return entity.Failed(entity.ReasonNodeLost, entity.ErrStopLost.Error())
	}
	outcome = executor.Run(ctx, run, rep)
	switch {
	case outcome.Status == entity.StatusSuccess, outcome.Status == entity.StatusWaiting, outcome.Detached():
		return outcome
	case !ends(outcome.Status):
		return entity.Failed(entity.ReasonError, fmt.Sprintf("the executor reported the state %q, which is no end of an attempt", outcome.Status))
	case outcome.Status == entity.StatusFailed && outcome.Reason == entity.ReasonNone:
		outcome.Reason = entity.ReasonError
	}
	if cause := context.Cause(ctx); cause != nil && outcome.Reason == entity.ReasonError {
		return stopped(outcome, cause)
	}
	return outcome
}

// ends reports whether an attempt may come to that state.
func ends(s entity.Status) bool {
	switch s {
	case entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled:
		return true
	}
	return false
}

// Check lists what is wrong with the executor's part of a definition. It adds
// to validation.Job and leaves to it what is reported there: unknown types, a
// missing class, and data that is not a JSON object.
func (d *DistributedExecutor) Check(job *entity.Job) []apperror.Field {
	checker := d.elsewhere[job.Type]
	if executor := d.executors[job.Type]; executor != nil {
		checker = executor
	}
	switch {
	case checker != nil && validation.Object(job.Data):
		return checker.Check(job)
	case checker == nil && known(job.Type):
		return []apperror.Field{{Field: "jobType", Code: "not_enabled", Message: refusal(job.Type)}}
	}
	return nil
}

func known(t entity.JobType) bool {
	return t == entity.JobHTTP || t == entity.JobCommand || t == entity.JobCustom
}

func refusal(t entity.JobType) string {
	if t == entity.JobCommand {
		return "commands are not enabled on this server; set executor.command.enabled (PS_EXECUTOR_COMMAND_ENABLED), and where it runs as root executor.command.user (PS_EXECUTOR_COMMAND_USER)"
	}
	return fmt.Sprintf("jobs of type %.40q are not enabled on this server", t)
}
