package explain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// runsShown bounds the shards of a fire that are read.
const runsShown = 200

// fire explains a line of the ledger.
func (c *inquiry) fire(ctx context.Context, e *entity.LedgerEntry) error {
	if !e.RangeEnd.IsZero() && e.Count == 1 && !e.CountAtLeast {
		c.say(Skipped, Code(e.Reason), Params{"time": e.ScheduledTime, "reason": e.Reason})
		c.answer.Message = e.Message
		return nil
	}
	if !e.RangeEnd.IsZero() {
		c.sayAs(Skipped, Code(e.Reason), Range, Params{
			"time": e.ScheduledTime, "rangeEnd": e.RangeEnd, "reason": e.Reason, "fires": fires(e),
			"count": e.Count, "countAtLeast": e.CountAtLeast,
		})
		c.answer.Message = e.Message
		return nil
	}
	if e.Outcome == entity.OutcomePlanned {
		return c.toCome(ctx, e)
	}
	all, err := c.runsOf(ctx, e)
	if err != nil {
		return err
	}
	begun, err := c.beginnings(ctx, all)
	if err != nil {
		return err
	}
	if len(begun) > 0 {
		e.LatenessMs = begun.greatest(all).Milliseconds()
	}
	runs := all
	if !c.SeesRuns {
		runs = nil
	}
	if n := len(e.Replays); n > 0 {
		c.add(FactReplay, e.Replays[n-1], Params{"times": n, "runId": e.Replays[n-1]})
	}
	status := entity.Status(e.Outcome)
	p := Params{"time": e.ScheduledTime, "latenessMs": time.Duration(e.LatenessMs) * time.Millisecond}
	switch status {
	case entity.StatusWaiting:
		c.say(Waiting, Code(e.WaitsFor), Params{"time": e.ScheduledTime, "waitsFor": e.WaitsFor})
		c.lostBefore(runs, begun)
		return errors.Join(c.heldBack(ctx, runs), c.waiting(ctx, e.WaitsFor, runs))
	case entity.StatusRunning:
		c.say(Running, Code(status), p)
		return errors.Join(c.heldBack(ctx, runs), c.running(ctx, runs, begun))
	case entity.StatusSkipped:
		c.say(Skipped, Code(e.Reason), Params{"time": e.ScheduledTime, "reason": e.Reason})
		c.answer.Message = e.Message
		return c.skipped(ctx, e)
	case entity.StatusSuccess:
		c.say(Fired, Code(status), p)
	default:
		p["status"], p["reason"] = string(status), e.Reason
		c.say(Fired, Code(status), p)
	}
	c.answer.Message = e.Message
	err = c.heldBack(ctx, runs)
	c.ended(e, runs, begun)
	return err
}

// heldBack tells which runs of a fire were held back, because their target could not be reached.
func (c *inquiry) heldBack(ctx context.Context, runs []*entity.Execution) error {
	of := map[string][]entity.Hold{}
	for _, r := range runs {
		if r.PutBackBefore() {
			of[r.ID] = nil
		}
	}
	if len(of) == 0 {
		return nil
	}
	holds, err := c.Executions.Holds(ctx, slices.Sorted(maps.Keys(of)))
	for _, h := range holds {
		of[h.ExecutionID] = append(of[h.ExecutionID], h)
	}
	for _, r := range runs {
		sum := entity.TotalHold(of[r.ID])
		if sum.Count == 0 {
			continue
		}
		p := Params{"times": sum.Count, "heldMs": sum.For}
		if r.ShardTotal > 1 {
			p["shardIndex"], p["shardTotal"] = r.ShardIndex, r.ShardTotal
		}
		c.add(FactHeldBack, r.ID, p)
	}
	return err
}

// fires is how many fires a range holds, as people read it.
func fires(e *entity.LedgerEntry) string {
	switch {
	case e.Count == 0:
		return "unknown number of"
	case e.CountAtLeast:
		return fmt.Sprintf("%d or more", e.Count)
	}
	return fmt.Sprint(e.Count)
}

// runsOf are the runs of a fire.
func (c *inquiry) runsOf(ctx context.Context, e *entity.LedgerEntry) ([]*entity.Execution, error) {
	if len(e.ExecutionIDs) == 0 {
		return nil, nil
	}
	ids := e.ExecutionIDs[:min(len(e.ExecutionIDs), runsShown)]
	runs, err := c.Executions.ByIDs(ctx, ids)
	slices.SortFunc(runs, func(a, b *entity.Execution) int { return a.ShardIndex - b.ShardIndex })
	return runs, err
}

// ended tells of runs that are over: the worst says why.
func (c *inquiry) ended(e *entity.LedgerEntry, runs []*entity.Execution, begun beginnings) {
	for _, r := range runs {
		if r.Status != entity.Status(e.Outcome) {
			continue
		}
		of := func(p Params) Params { return ofShard(r, p) }
		if !r.StartTime.IsZero() {
			c.add(FactRunEnded, r.ID, of(Params{
				"runId": r.ID, "startTime": r.StartTime, "nodeId": r.NodeID, "durationMs": r.Duration,
			}))
		}
		if r.RetryCount > 0 {
			c.add(FactAttempts, r.ID, of(Params{"attempts": r.Attempt}))
		}
		c.late(r, begun)
		c.lost(r, begun)
		if r.Trigger == entity.TriggerMisfire {
			c.add(FactMisfireRan, r.ID, Params{"misfirePolicy": c.job.Misfire.Policy})
		}
		if c.answer.Message == "" {
			c.answer.Message = r.ErrorMessage
		}
		return
	}
}

// saysHeldBack reports whether the answer says that a run was held back: that is why it began late.
func (c *inquiry) saysHeldBack(r *entity.Execution) bool {
	return slices.ContainsFunc(c.answer.Facts, func(f Fact) bool { return f.Code == FactHeldBack && f.ID == r.ID })
}

// running tells where a run is, and what is wrong there.
func (c *inquiry) running(ctx context.Context, runs []*entity.Execution, begun beginnings) error {
	nodes, err := c.registry(ctx)
	if err != nil {
		return err
	}
	told := 0
	for _, r := range runs {
		if r.Status != entity.StatusRunning || told == 5 {
			continue
		}
		told++
		c.late(r, begun)
		c.lost(r, begun)
		if r.Open() {
			if err := c.openRun(ctx, r); err != nil {
				return err
			}
			continue
		}
		if r.Detached() {
			c.add(FactRunDetached, r.ID, Params{"runId": r.ID})
			continue
		}
		c.runsOn(r)
		if n, ok := nodes[r.NodeID]; !ok || n.Status == entity.NodeDown || n.Status == entity.NodeSuspect {
			p := Params{"nodeId": r.NodeID, "status": notRegistered, "onNodeLoss": c.job.OnNodeLoss}
			if ok {
				p["status"], p["lastHeartbeat"] = string(n.Status), n.LastHeartbeat
			}
			c.add(FactNodeAway, r.NodeID, p)
		}
		if r.CancelRequested {
			c.add(FactRunStopping, r.ID, Params{"runId": r.ID})
		}
	}
	return nil
}

// notRegistered is the status of a node that is not in the registry.
const notRegistered = "not registered"

// runsOn tells where a run is.
func (c *inquiry) runsOn(r *entity.Execution) {
	c.add(FactRunOn, r.ID, Params{"runId": r.ID, "nodeId": r.NodeID, "startTime": r.StartTime})
}

// skipped tells what was in the way of a fire that was not run.
func (c *inquiry) skipped(ctx context.Context, e *entity.LedgerEntry) error {
	switch e.Reason {
	case entity.ReasonMisfire:
		c.add(FactMisfirePolicy, "", Params{"misfirePolicy": c.job.Misfire.Policy})
	case entity.ReasonQueueFull:
		c.add(FactMaxQueued, "", Params{"maxQueued": c.job.MaxQueued})
	case entity.ReasonNoNode, entity.ReasonDeadline:
		if c.job.StartDeadlineSec > 0 { // a broadcast that is for nobody needs none
			c.add(FactStartDeadline, "", Params{"startDeadlineSec": c.job.StartDeadlineSec})
		}
	case entity.ReasonOverlap, entity.ReasonReplaced:
		c.add(FactOverlapPolicy, "", Params{"overlapPolicy": c.job.Overlap})
		return c.inTheWay(ctx, e.ScheduledTime)
	}
	return nil
}

// inTheWay tells which run of the job ran at a moment.
func (c *inquiry) inTheWay(ctx context.Context, at time.Time) error {
	if !c.SeesRuns {
		return nil
	}
	rows, _, err := c.Executions.List(ctx, repository.ExecutionFilter{JobID: c.job.ID, From: at.Add(-back), To: at},
		repository.Page{Limit: 50})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.StartTime.IsZero() || r.StartTime.After(at) || !r.EndTime.IsZero() && r.EndTime.Before(at) {
			continue
		}
		code := FactRunStill
		if !r.EndTime.IsZero() {
			code = FactRunBefore
		}
		c.add(code, r.ID, Params{
			"runId": r.ID, "time": r.ScheduledTime, "startTime": r.StartTime, "nodeId": r.NodeID, "endTime": r.EndTime,
		})
		return nil
	}
	return nil
}

// registry is every node by its id.
func (c *inquiry) registry(ctx context.Context) (map[string]entity.Node, error) {
	all, err := c.Nodes.All(ctx)
	nodes := make(map[string]entity.Node, len(all))
	for _, n := range all {
		nodes[n.ID] = n
	}
	return nodes, err
}
