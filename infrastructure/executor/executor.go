// Package executor runs claimed attempts. It hands each attempt to the executor of its job's
// type and makes one outcome of the result.
package executor

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// Executor runs the jobs of one type. It is safe for concurrent use.
type Executor interface {
	// Run runs one attempt and returns when it has ended. When ctx is cancelled, Run gives up
	// and returns a failure with ReasonError; the cause of the cancellation decides what that
	// means. An attempt that cannot begin returns entity.NotBegun. Run changes neither of its
	// arguments.
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
	Checker
}

// Checker checks definitions of one type.
type Checker interface {
	// Check lists what is wrong with the executor's part of a definition, in the field names of
	// the API. The data of the definition is a JSON object.
	Check(job *entity.Job) []apperror.Field
}

// DistributedExecutor runs attempts of every type that this node can run. Safe for concurrent
// use.
type DistributedExecutor struct {
	executors map[entity.JobType]Executor
	elsewhere map[entity.JobType]Checker
	// acts is what the program is, for messages.
	acts string
}

// New returns a DistributedExecutor of these executors. The checkers of elsewhere check
// definitions that do not run here: those of other types, whose runs wait for a node that can run them, and those for
// workers. A type in neither is refused, when it is saved and when it runs. Workflows, and steps that wait, need none.
func New(executors map[entity.JobType]Executor, elsewhere map[entity.JobType]Checker) *DistributedExecutor {
	d := &DistributedExecutor{executors: maps.Clone(executors), elsewhere: maps.Clone(elsewhere), acts: "server"}
	d.executors[wf.WaitType] = Waiter{}
	d.executors[entity.JobWorkflow] = &Opener{validate.Checker{
		Ports: validate.Ports{Conditions: expression.Whens{}, Work: Steps{Of: d}},
	}}
	return d
}

// As makes it the executor of another program than a server, which its messages name, and returns it.
func (d *DistributedExecutor) As(acts string) *DistributedExecutor {
	d.acts = acts
	return d
}

// Run runs one attempt on the caller's goroutine and returns its outcome. The caller's slot is
// in use until the attempt has ended, so Run returns only then. An executor that ignores the
// cancellation of ctx keeps the slot.
//
// A panic of the executor becomes a failure with ReasonPanic. When ctx was cancelled, a failure
// without a more precise reason becomes what the cause says, one of the entity.ErrStop… errors.
// A success, a precise failure and a run that its target accepted stay as they are.
func (d *DistributedExecutor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) (outcome entity.Outcome) {
	executor := d.executors[run.Job.Type]
	if executor == nil {
		return entity.Failed(entity.ReasonInvalid, d.refusal(run.Job.Type))
	}
	defer func() {
		if value := recover(); value != nil {
			var lines string
			outcome, lines = ending.Panicked(value, debug.Stack())
			rep.Log(entity.LogStderr, lines)
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
		return entity.Failed(entity.ReasonError,
			fmt.Sprintf("the executor reported the state %q, which is no end of an attempt", outcome.Status))
	}
	return ending.Of(outcome, context.Cause(ctx))
}

// ends reports whether an attempt may end in a status.
func ends(s entity.Status) bool {
	switch s {
	case entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled:
		return true
	}
	return false
}

// Check lists what is wrong with the executor's part of a definition. It leaves to
// validation.Job what that reports: unknown types, a missing class, and data that is not a JSON
// object.
func (d *DistributedExecutor) Check(job *entity.Job) []apperror.Field {
	checker := d.elsewhere[job.Type]
	if executor := d.executors[job.Type]; executor != nil && (checker == nil || job.Routing.Workers == "") {
		checker = executor
	}
	switch {
	case checker != nil && validation.Object(job.Data):
		return checker.Check(job)
	case checker == nil && known(job.Type):
		return []apperror.Field{{Field: "jobType", Code: "not_enabled", Message: d.refusal(job.Type)}}
	}
	return nil
}

func known(t entity.JobType) bool {
	return t == entity.JobHTTP || t == entity.JobCommand || t == entity.JobCustom || t == entity.JobWorkflow
}

func (d *DistributedExecutor) refusal(t entity.JobType) string {
	if t == entity.JobCommand {
		return "commands are not enabled on this " + d.acts +
			"; set executor.command.enabled (PS_EXECUTOR_COMMAND_ENABLED), and where it runs " +
			"as root executor.command.user (PS_EXECUTOR_COMMAND_USER)"
	}
	return fmt.Sprintf("jobs of type %.40q are not enabled on this %s", t, d.acts)
}
