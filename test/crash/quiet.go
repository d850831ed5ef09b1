package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// quietBound is how long nothing may start or end of what is live, once nothing new is planned and nobody kills any
// more. The queues that a slow machine has then need drainBound.
const (
	quietBound = 90 * time.Second
	drainBound = 5 * time.Minute
)

// Quiet stops the planning, waits until nothing is live, and reads everything
// through the API. No operator helps. The calls that the targets saw are not part of it.
func Quiet(ctx context.Context, c *Client, jobs []history.Job, hand *Hand) (history.History, error) {
	time.Sleep(2 * time.Second)
	for i, j := range jobs {
		if j.Step == 0 && j.Delay == 0 && !j.Once { // nothing plans it
			continue
		}
		view, err := c.Pause(ctx, j.ID)
		var refused *StatusError
		if j.Once && errors.As(err, &refused) && refused.Status == http.StatusConflict {
			continue // it has fired already
		}
		if err != nil {
			return history.History{}, fmt.Errorf("pause %q: %w", j.Name, err)
		}
		jobs[i].Until = view.UpdateTime
	}
	if err := hand.Settle(ctx, c); err != nil {
		return history.History{}, err
	}
	now := time.Now()
	for i, j := range jobs {
		if j.Once {
			jobs[i].Until = now.Add(-2 * time.Second) // a later one need not have fired
		}
	}
	h := history.History{Jobs: jobs, Triggers: hand.Triggers, Unanswered: hand.Unanswered}
	err := read(ctx, c, &h)
	for until := time.Now().Add(quietBound); err == nil && h.Owes() && time.Now().Before(until); {
		time.Sleep(300 * time.Millisecond) // between an end and what it starts nothing is live
		err = read(ctx, c, &h)
	}
	if err != nil {
		return h, err
	}
	h.Statistics, h.Total, err = statistics(ctx, c, jobs)
	return h, err
}

// read waits until nothing is live, and reads all executions.
func read(ctx context.Context, c *Client, h *history.History) error {
	if err := drain(ctx, c); err != nil {
		return err
	}
	h.Rows = nil
	for _, j := range h.Jobs {
		rows, err := c.Executions(ctx, j.ID)
		if err != nil {
			return fmt.Errorf("read the executions of %q: %w", j.Name, err)
		}
		h.Rows = append(h.Rows, rows...)
	}
	return nil
}

// drain waits until nothing is live. The checker finds runs that are live at a bound.
func drain(ctx context.Context, c *Client) error {
	var former []string
	began := time.Now()
	const again = 300 * time.Millisecond
	for moved := began; time.Since(moved) < quietBound && time.Since(began) < drainBound; time.Sleep(again) {
		live, err := c.Live(ctx)
		if err != nil || len(live) == 0 {
			return err
		}
		if !slices.Equal(live, former) {
			former, moved = live, time.Now()
		}
	}
	return nil
}

// countedBound is how long it may take until all ends are counted.
const countedBound = 60 * time.Second

// statistics waits until all ends are counted, and reads what they come to, by job and together.
func statistics(ctx context.Context, c *Client, jobs []history.Job) (
	all []history.Statistic, total *history.Statistic, err error,
) {
	quiet := time.Now()
	for until := quiet.Add(countedBound); ; time.Sleep(300 * time.Millisecond) {
		sum, asOf, err := c.Statistics(ctx, "")
		if err != nil {
			return nil, nil, fmt.Errorf("read the statistics: %w", err)
		}
		total = &sum
		if asOf.After(quiet) || time.Now().After(until) {
			break // what is not counted at the bound is missing, and found
		}
	}
	for _, j := range jobs {
		s, _, err := c.Statistics(ctx, j.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("read the statistics of %q: %w", j.Name, err)
		}
		all = append(all, s)
	}
	return all, total, nil
}
