package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Waiter is the executor of steps that wait. Nobody claims one before its moment, so that it ends at once, unless there
// is no such moment.
type Waiter struct{}

// Run implements Executor.
func (Waiter) Run(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	var wait wf.Wait
	if err := json.Unmarshal([]byte(run.Job.Data), &wait); err != nil {
		return invalid("wait: " + err.Error())
	}
	if wait.Until == "" {
		return entity.Succeeded("")
	}
	text, err := placeholder.Expand(wait.Until, placeholder.Of(run), placeholder.Raw)
	if err != nil {
		return invalid("wait.until: " + err.Error())
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return invalid("wait.until is no moment as RFC 3339, such as 2026-11-20T21:33:00Z")
	}
	if until.After(run.Execution.DueTime.Add(time.Second)) {
		return invalid(fmt.Sprintf("wait.until is %s, which is more than %d days ahead", clock.Text(until),
			wf.MaxWaitSec/(24*3600)))
	}
	return entity.Succeeded("")
}

func invalid(message string) entity.Outcome {
	o := entity.Failed(entity.ReasonInvalid, message)
	o.NoRetry = true
	return o
}

// Check implements Checker.
func (Waiter) Check(*entity.Job) []apperror.Field { return nil }
