package running

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// LongAttempt is an attempt that has run for a while on this node.
type LongAttempt struct {
	JobID       string
	ExecutionID string
	Attempt     int
	Start       time.Time
	Age         time.Duration
}

// Long returns the attempts of this node that the schedule or a workflow run asked for and that are at least
// so old. Single shards, and items of maps, are left out: their fire, or the map, is the run. It looks at memory alone.
func (t *TaskManager) Long(age time.Duration) (out []LongAttempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.runs {
		exec := a.run.Execution
		asked := exec.Trigger == entity.TriggerSchedule || exec.Trigger == entity.TriggerDependency && exec.Inline()
		if !asked || exec.ShardTotal > 1 || exec.Item() {
			continue
		}
		if start, ran, runs := a.time.since(t); runs && ran >= age {
			out = append(out, LongAttempt{exec.JobID, exec.ID, exec.Attempt, start, ran})
		}
	}
	return out
}
