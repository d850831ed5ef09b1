package httpcall

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// reportPath is the path, below the server's address, where the target of an asynchronous call
// reports.
func reportPath(executionID string) string { return "/api/v1/executions/" + executionID + "/report" }

// checkAsync checks what an asynchronous call needs in addition.
func (x *Executor) checkAsync(job *entity.Job) []apperror.Field {
	switch {
	case job.Routing.Workers != "":
		return []apperror.Field{{
			Field: jobdata.Path + ".async", Code: "conflict",
			Message: "a call of a worker is over with its answer: leave async out, or routing.workers",
		}}
	case !x.settings.Reports:
		return []apperror.Field{{
			Field: jobdata.Path + ".async", Code: "not_enabled",
			Message: "calls whose target reports the end later are not enabled on this server",
		}}
	case job.TimeoutSec <= 0:
		return []apperror.Field{{
			Field: "timeoutSec", Code: "required",
			Message: "must be given for an asynchronous call: it is how long its target has to report the end",
		}}
	}
	return nil
}

// open gets the token with which the target reports. That happens before the request, because
// the target may report before it answers. While the store is away, the attempt waits and has
// not begun (engine rule 22).
func (x *Executor) open(ctx context.Context, a *attempt, run entity.Run, rep entity.Reporter) error {
	if !a.call.async {
		return nil
	}
	if run.Tokens == nil {
		return errors.New("this node takes no reports of targets")
	}
	begins := rep.Waits()
	token, err := run.Tokens.Issue(ctx, run)
	if err != nil {
		return err
	}
	begins()
	a.token, a.reportURL = token, x.settings.BaseURL+reportPath(run.Execution.ID)
	return nil
}
