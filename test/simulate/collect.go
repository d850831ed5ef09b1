package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// collect reads the history.
func (w *world) collect(ctx context.Context, l *life) error {
	h := &w.h
	for _, j := range w.jobs {
		h.Jobs = append(h.Jobs, j.Job)
		for page := (repository.Page{Limit: 1000}); ; {
			rows, next, err := l.Executions.List(ctx, repository.ExecutionFilter{JobID: j.ID}, page)
			if err != nil {
				return fmt.Errorf("read the executions of %q: %w", j.Name, err)
			}
			for _, e := range rows {
				r := row(e)
				if r.Attempt > 1 {
					if r.Former, err = former(ctx, l, e); err != nil {
						return err
					}
				}
				h.Rows = append(h.Rows, r)
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
	}
	if err := w.statistics(ctx, l); err != nil {
		return err
	}
	db, err := w.openStore()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := w.settled(ctx, db); err != nil {
		return err
	}
	if h.Cluster.Leftovers, err = w.places(ctx, db); err != nil {
		return err
	}
	if w.d, err = w.deliveries(ctx, db); err != nil {
		return err
	}
	members, err := l.Nodes.List(ctx)
	if err != nil {
		return err
	}
	for _, m := range members {
		h.Cluster.Sights = append(h.Cluster.Sights, history.Member{ID: m.ID, Epoch: m.Epoch, Status: string(m.Status)})
	}
	for _, m := range w.members {
		h.Cluster.Nodes = append(h.Cluster.Nodes, m.id)
		if l := m.up(); l != nil && m.down(l) {
			h.Cluster.Exits = append(h.Cluster.Exits, history.Exit{Node: m.id, At: time.Now(), Code: m.stop(l)})
		}
	}
	h.Calls = w.target.all()
	c := &h.Cluster
	c.Beat, c.Lease, c.Faults, c.Steps = beat, lease, w.faults, w.steps
	c.Exits = append(c.Exits, w.exits...)
	w.log.mu.Lock()
	c.Fences, c.Deaths = w.log.fences, w.log.deaths
	w.log.mu.Unlock()
	return nil
}

func row(e *entity.Execution) history.Row {
	return history.Row{
		ID: e.ID, JobID: e.JobID, FireKey: e.FireKey, ScheduledTime: e.ScheduledTime, Trigger: string(e.Trigger),
		ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal, Status: string(e.Status), Reason: string(e.Reason),
		ErrorMessage: e.ErrorMessage, Result: e.Result, WaitsFor: string(e.Claim.WaitsFor()), Attempt: e.Attempt,
		NodeID: e.NodeID, StartTime: e.StartTime, EndTime: e.EndTime, CreateTime: e.CreateTime,
		SkipFrom: e.SkipFrom, SkipTo: e.SkipTo, SkipCount: e.SkipCount,
	}
}

func former(ctx context.Context, l *life, e *entity.Execution) (list []history.Attempt, err error) {
	attempts, err := l.Executions.Attempts(ctx, e.ID)
	if err != nil {
		return nil, fmt.Errorf("read the attempts of %s: %w", e.ID, err)
	}
	for _, a := range attempts {
		if a.Attempt < e.Attempt {
			list = append(list, history.Attempt{
				Attempt: a.Attempt, Status: string(a.Status), Reason: string(a.Reason), NodeID: a.NodeID, Result: a.Result,
				StartTime: a.StartTime, EndTime: a.EndTime,
			})
		}
	}
	return list, nil
}
