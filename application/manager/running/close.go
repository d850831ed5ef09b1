package running

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/application/manager/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Closer ends runs that have not started.
type Closer struct {
	Store  repository.Store
	Places *coordination.Places
	Jobs   Jobs
	Clock  StoreClock
}

// CloseWaiting makes those of the rows final that still wait, and gives their
// places on. wanted is asked again about each locked row.
func (c *Closer) CloseWaiting(ctx context.Context, lane repository.Lane, rows []*entity.Execution,
	status entity.Status, reason entity.Reason, wanted func(*entity.Execution, time.Time) bool,
) (closed []*entity.Execution, effect coordination.Effect, err error) {
	var ids, jobIDs []string
	for _, row := range rows {
		ids = append(ids, row.ID)
		jobIDs = append(jobIDs, row.JobID)
	}
	slices.SortFunc(ids, strings.Compare)
	known, err := c.Jobs.Load(ctx, jobIDs)
	if err != nil {
		return nil, effect, err
	}
	c.Places.Prepare(ctx, slices.Collect(maps.Values(known))...)
	jobIDs = slices.DeleteFunc(jobIDs, func(id string) bool { return known[id] == nil || !known[id].Coordinated() })
	err = c.Store.Write(ctx, lane, "close", func(ctx context.Context, tx repository.Tx) error {
		closed, effect = nil, coordination.Effect{}
		jobs, err := c.Places.Lock(ctx, tx, jobIDs)
		if err != nil {
			return err
		}
		held, err := tx.Executions.Lock(ctx, ids)
		if err != nil {
			return err
		}
		now := c.Clock.Now()
		var events []entity.Event
		for _, row := range held {
			if row.Status != entity.StatusWaiting || !wanted(row, now) {
				continue
			}
			coordination.Close(row, status, reason, now)
			if err := tx.Executions.Update(ctx, row, entity.StatusWaiting, row.Token); err != nil {
				return fmt.Errorf("close run %s: %w", row.ID, err)
			}
			closed = append(closed, row)
			events = append(events, event.Final(row, now))
		}
		if len(closed) == 0 {
			return nil
		}
		if effect, err = c.Places.Ended(ctx, tx, now, jobs, coordinatedOnly(closed, jobs)); err != nil {
			return err
		}
		return tx.Records.AddEvents(ctx, events)
	})
	return closed, effect, err
}

func coordinatedOnly(rows []*entity.Execution, jobs map[string]*entity.Job) []*entity.Execution {
	var out []*entity.Execution
	for _, row := range rows {
		if jobs[row.JobID] != nil {
			out = append(out, row)
		}
	}
	return out
}
