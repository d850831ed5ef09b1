package explain

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// attemptsRead bounds the runs of a fire whose attempts are read.
const attemptsRead = 20

// beginnings are the former attempts of runs that began more than once, by their ids.
type beginnings map[string][]entity.Attempt

// beginnings reads the former attempts of runs.
func (c *inquiry) beginnings(ctx context.Context, runs []*entity.Execution) (beginnings, error) {
	out := beginnings{}
	for _, r := range runs {
		if r.Attempt < 2 && r.NodeLosses == 0 || len(out) == attemptsRead {
			continue
		}
		attempts, err := c.Executions.Attempts(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		out[r.ID] = attempts
	}
	return out, nil
}

// lateness is from the due time of a run to its first start.
func (b beginnings) lateness(r *entity.Execution) time.Duration {
	return max(b.start(r).Sub(r.DueTime), 0)
}

// start is the first start of a run; its due time where it has not begun.
func (b beginnings) start(r *entity.Execution) time.Time {
	for _, a := range b[r.ID] {
		if !a.StartTime.IsZero() {
			return a.StartTime
		}
	}
	if r.StartTime.IsZero() {
		return r.DueTime
	}
	return r.StartTime
}

// greatest is the lateness of a fire by the first starts of its runs: a run that began again has not begun late.
func (b beginnings) greatest(runs []*entity.Execution) (late time.Duration) {
	for _, r := range runs {
		late = max(late, b.lateness(r))
	}
	return late
}

// lateAfter is from when a late start is told.
const lateAfter = time.Second

// late tells why a run began late: nobody was there to fire it, or it had to wait.
func (c *inquiry) late(r *entity.Execution, begun beginnings) {
	start := begun.start(r)
	if start.Equal(r.DueTime) {
		return
	}
	fired := r.DueTime
	if r.CreateTime.Sub(r.DueTime) >= lateAfter {
		fired = r.CreateTime
		c.add(FactServerDown, r.ID, ofShard(r, Params{"latenessMs": fired.Sub(r.DueTime), "createTime": fired}))
	}
	if start.Sub(fired) >= lateAfter && !c.saysHeldBack(r) {
		c.add(FactLate, r.ID, ofShard(r, Params{"latenessMs": start.Sub(r.DueTime)}))
	}
}

// lost names the nodes that were lost while they ran a run.
func (c *inquiry) lost(r *entity.Execution, begun beginnings) {
	if r.NodeLosses == 0 {
		return
	}
	named := false
	for _, a := range begun[r.ID] {
		if a.Reason == entity.ReasonNodeLost && a.NodeID != "" {
			named = true
			c.add(FactNodeLost, a.NodeID, ofShard(r, Params{"nodeId": a.NodeID, "attempt": a.Attempt}))
		}
	}
	if !named {
		c.add(FactNodeLost, "", ofShard(r, Params{"times": r.NodeLosses}))
	}
}

// lostBefore names the nodes that were lost while they ran runs which wait for another attempt.
func (c *inquiry) lostBefore(runs []*entity.Execution, begun beginnings) {
	told := 0
	for _, r := range runs {
		if r.Status == entity.StatusWaiting && r.NodeLosses > 0 && told < nodesShown {
			told++
			c.lost(r, begun)
		}
	}
}

// ofShard adds which shard of its fire a run is.
func ofShard(r *entity.Execution, p Params) Params {
	if r.ShardTotal > 1 {
		p["shardIndex"], p["shardTotal"] = r.ShardIndex, r.ShardTotal
	}
	return p
}
