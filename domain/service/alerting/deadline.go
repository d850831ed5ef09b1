package alerting

import (
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Kept finds out whether a fire, or a later one of its job, had succeeded at its deadline. With
// shards, all of them must have. Not safe for concurrent use.
type Kept struct {
	deadline entity.Deadline
	ended    map[string]int
}

// NewKept knows of no execution.
func NewKept(d entity.Deadline) *Kept { return &Kept{deadline: d, ended: map[string]int{}} }

// Add counts an execution, of which each is given once, and reports whether the deadline was kept.
func (k *Kept) Add(e *entity.Execution) bool {
	if e.Status != entity.StatusSuccess || e.EndTime.After(k.deadline.Moment) ||
		e.ScheduledTime.Before(k.deadline.ScheduledTime) {
		return false
	}
	k.ended[e.FireKey]++
	return k.ended[e.FireKey] >= max(e.ShardTotal, 1)
}

// OnMissed asks a rule about a deadline that was missed.
func OnMissed(r *alert.Rule, job Job, d entity.Deadline) (s Signal, found bool) {
	if r.Type != alert.DeadlineMissed || !r.Enabled || !job.SeenBy(r) {
		return s, false
	}
	scheduled, moment := d.ScheduledTime.UTC().Format(time.RFC3339), d.Moment.UTC().Format(time.RFC3339)
	return Signal{
		Rule: r, Subject: job.ID, Evidence: d.FireKey, At: d.Moment, JobID: job.ID, Group: job.Group,
		ExecutionID: identity.ExecutionID(d.ScheduledTime, job.ID, d.FireKey, 0), Labels: jobLabels(job),
		Content: fmt.Sprintf("The job %s missed its deadline: its fire of %s had not succeeded by %s.", job.Name, scheduled,
			moment),
		Details: job.details(map[string]string{"scheduled": scheduled, "deadline": moment}),
	}, true
}
