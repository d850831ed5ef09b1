package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// nodesShown bounds the nodes that an answer names.
const nodesShown = 5

// waiting tells what stands between a fire and its start.
func (c *inquiry) waiting(ctx context.Context, what entity.Wait, runs []*entity.Execution) error {
	var run *entity.Execution
	for _, r := range runs {
		if r.Status == entity.StatusWaiting && r.Claim.WaitsFor() == what {
			run = r
			break
		}
	}
	if run != nil && !run.StartDeadline.IsZero() {
		c.add(FactGivenUpAt, run.ID, Params{"time": run.StartDeadline, "startDeadlineSec": c.job.StartDeadlineSec})
	}
	if run != nil && run.CancelRequested {
		c.add(FactRunStopping, run.ID, Params{"runId": run.ID})
	}
	if class := entity.NodeClassOf(c.job); class.Workers != "" {
		switch what {
		case entity.WaitSlot, entity.WaitHandler, entity.WaitWorker:
			return c.workers(ctx, class)
		}
	}
	switch what {
	case entity.WaitTime:
		return c.nextTry(ctx, run)
	case entity.WaitJob:
		c.add(FactJobLimit, "", Params{"limit": c.job.FireLimit(), "overlapPolicy": c.job.Overlap})
		return c.liveRuns(ctx)
	case entity.WaitGroup:
		g, err := c.group(ctx, c.job.Group)
		if err != nil {
			return err
		}
		c.add(FactGroupLimit, g.Name, Params{"group": g.Name, "limit": g.MaxConcurrency})
	case entity.WaitSlot:
		return c.fitNodes(ctx, run)
	case entity.WaitNode, entity.WaitCommand, entity.WaitHandler:
		return c.unfitNodes(ctx)
	}
	return nil
}

// nextTry tells when a run that failed, or was delayed, goes on.
func (c *inquiry) nextTry(ctx context.Context, run *entity.Execution) error {
	if run == nil {
		return nil
	}
	until, ok := run.Claim.ScheduledUntil()
	if !ok {
		return nil
	}
	if run.Attempt == 0 {
		c.add(FactBeginsAt, run.ID, Params{"time": until})
		return nil
	}
	attempts, err := c.Executions.Attempts(ctx, run.ID)
	if err != nil {
		return err
	}
	p := Params{"attempt": run.Attempt, "time": until}
	if n := len(attempts); n > 0 {
		p["reason"] = attempts[n-1].Reason
		c.answer.Message = attempts[n-1].ErrorMessage
	}
	c.add(FactNextAttempt, run.ID, p)
	return nil
}

// liveRuns tells which runs of the job are not over.
func (c *inquiry) liveRuns(ctx context.Context) error {
	if !c.SeesRuns {
		return nil
	}
	rows, err := c.Executions.Recent(ctx, c.job.ID, 50)
	if err != nil {
		return err
	}
	told := 0
	for _, r := range rows {
		if r.Status == entity.StatusRunning && told < nodesShown {
			told++
			c.runsOn(r)
		}
	}
	return nil
}

// fitNodes tells how full those nodes are that may take a run.
func (c *inquiry) fitNodes(ctx context.Context, run *entity.Execution) error {
	nodes, err := c.registry(ctx)
	if err != nil {
		return err
	}
	only := ""
	if run != nil {
		only = run.Claim.WaitsOn()
	}
	if n, ok := nodes[only]; only != "" && (!ok || n.Status != entity.NodeUp) {
		status := notRegistered
		if ok {
			status = string(n.Status)
		}
		c.add(FactNodeMeant, only, Params{"nodeId": only, "status": status})
		return nil
	}
	class, kind := entity.NodeClassOf(c.job), entity.SlotGeneral
	if class.Command {
		kind = entity.SlotCommand
	}
	told := 0
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[id]
		if only != "" && id != only || !n.Has(entity.RoleExecutor) || n.Status == entity.NodeDown ||
			routing.Missing(class, &n) != entity.WaitNone {
			continue
		}
		if told++; told > nodesShown {
			continue
		}
		taken, slots := n.Load(kind)
		c.add(FactNodeSlots, id, Params{"nodeId": id, "status": string(n.Status), "taken": taken, "slots": slots})
	}
	if told > nodesShown {
		c.add(FactMoreNodes, "", Params{"count": told - nodesShown})
	}
	if told == 0 {
		c.add(FactNoNodeUp, "", nil)
	}
	return nil
}

// unfitNodes tells what the job asks for, and which nodes would do if they were up.
func (c *inquiry) unfitNodes(ctx context.Context) error {
	nodes, err := c.registry(ctx)
	if err != nil {
		return err
	}
	class := entity.NodeClassOf(c.job)
	c.asked(class)
	up, told := 0, 0
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[id]
		if !n.Has(entity.RoleExecutor) {
			continue
		}
		if n.Status != entity.NodeDown && n.Status != entity.NodeDraining {
			up++
			continue
		}
		if routing.Missing(class, &n) == entity.WaitNone && told < nodesShown {
			told++
			c.add(FactNodeFitsAway, id, Params{"nodeId": id, "status": string(n.Status), "since": n.LastHeartbeat})
		}
	}
	c.add(FactNoNodeFits, "", Params{"count": up})
	return nil
}

// asked tells what a class of runs asks of a node.
func (c *inquiry) asked(class entity.NodeClass) {
	if class.Command {
		c.add(FactAsksCommands, "", nil)
	}
	if class.Handler != "" {
		c.add(FactAsksHandler, "", Params{"handler": fmt.Sprintf("%.64q", class.Handler)})
	}
	for i, key := range slices.Sorted(maps.Keys(class.Labels)) {
		if i == nodesShown {
			c.add(FactAsksMore, "", Params{"count": len(class.Labels) - i})
			break
		}
		c.add(FactAsksLabel, "", Params{"key": fmt.Sprintf("%.50s", key), "value": fmt.Sprintf("%.50s", class.Labels[key])})
	}
}

// group is a group; one that has no row has no settings.
func (c *inquiry) group(ctx context.Context, name string) (entity.Group, error) {
	g, err := c.Groups.Group(ctx, name)
	if apperror.Is(err, apperror.KindNotFound) {
		return entity.Group{Name: name}, nil
	}
	return g, err
}
