package httpcall

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/report"
)

func reportPath(executionID string) string { return "/api/v1/executions/" + executionID + "/report" }

// WithReports enables asynchronous calls: their targets report to reports. It
// is called before the first run.
func (x *Executor) WithReports(reports *report.Registry) *Executor {
	x.reports = reports
	return x
}

// checkAsync adds what an asynchronous call needs beyond any call.
func (x *Executor) checkAsync(job *entity.Job) []fault.Field {
	switch {
	case x.reports == nil:
		return []fault.Field{{
			Field: jobdata.Path + ".async", Code: "not_enabled",
			Message: "calls whose target reports the end later are not enabled on this server",
		}}
	case job.TimeoutSec <= 0:
		return []fault.Field{{
			Field: "timeoutSec", Code: "required",
			Message: "must be given for an asynchronous call: it is how long its target has to report the end",
		}}
	}
	return nil
}

// await waits for the end that the target reports.
func (a *attempt) await(ctx context.Context, wait *report.Wait) entity.Outcome {
	select {
	case o := <-wait.End():
		return o
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, entity.ErrStopTimeout) {
		return entity.Outcome{
			Status: entity.StatusTimeout, Reason: entity.ReasonTimeout,
			Message: fmt.Sprintf("the target accepted the run and did not report its end within %s", a.limit),
		}
	}
	return entity.Failed(entity.ReasonError, "stopped while the target worked: "+cause.Error()+"; what the target does about it is its own")
}
