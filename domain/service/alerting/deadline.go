package alerting

import (
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// InTime reports whether a fire, or a later one of its job, had succeeded at its deadline.
// With shards, all of them must have. Executions are the newest of the job.
func InTime(execs []*entity.Execution, d entity.Deadline) bool {
	ended := map[string]int{}
	for _, e := range execs {
		if e.Status != entity.StatusSuccess || e.EndTime.After(d.Moment) || e.ScheduledTime.Before(d.ScheduledTime) {
			continue
		}
		if ended[e.FireKey]++; ended[e.FireKey] >= max(e.ShardTotal, 1) {
			return true
		}
	}
	return false
}

// OnMissed asks a rule about a deadline that was missed.
func OnMissed(r *alert.Rule, job Job, d entity.Deadline) (s Signal, found bool) {
	if r.Type != alert.DeadlineMissed || !r.Enabled || !r.Sees(job.ID, job.Group, job.Labels) {
		return s, false
	}
	scheduled, moment := d.ScheduledTime.UTC().Format(time.RFC3339), d.Moment.UTC().Format(time.RFC3339)
	return Signal{
		Rule: r, Subject: job.ID, Evidence: d.FireKey, At: d.Moment, JobID: job.ID, Group: job.Group,
		ExecutionID: identity.ExecutionID(d.ScheduledTime, job.ID, d.FireKey, 0), Labels: jobLabels(job),
		Content: fmt.Sprintf("The job %s missed its deadline: its fire of %s had not succeeded by %s.", job.Name, scheduled,
			moment),
		Details: map[string]string{"job": job.Name, "scheduled": scheduled, "deadline": moment},
	}, true
}
