package alerting

import (
	"cmp"
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// seenBy reports whether a rule sees a job, or a step of it.
func seenBy(rule *alert.Rule, job repository.AlertJob) bool {
	j := ruleset.JobOf(job)
	return j.SeenBy(rule)
}

// before returns the fires of a job up to an end, the newest first, where a rule asks for them.
func before(ctx context.Context, reader *fires.Reader, rule *alert.Rule, job repository.AlertJob, end alerting.End,
) (alerting.Past, error) {
	n := alerting.NeedsRuns(rule)
	if n == 0 || !end.Status.Failed() || !rule.Enabled || !seenBy(rule, job) {
		return alerting.Past{}, nil
	}
	return reader.Before(ctx, fires.Question{
		JobID: cmp.Or(job.StepID, job.ID), Moment: end.At, ExecutionID: end.ExecutionID, Fires: n,
		Enough: func(runs []alerting.Run) bool { return alerting.EnoughRuns(rule, end, runs) },
	})
}
