package crash

import (
	"context"
	"fmt"
	"time"
)

// quietBound is how long everything live may take to end once nothing new is
// planned and nobody kills any more.
const quietBound = 90 * time.Second

// quiet stops the planning, waits until nothing is live, and reads everything
// through the API. No operator helps.
func (d *Driver) quiet(ctx context.Context) (History, error) {
	time.Sleep(2 * time.Second)
	for i, j := range d.jobs {
		if j.Once || j.Name == handJob {
			continue
		}
		view, err := d.client.Pause(ctx, j.ID)
		if err != nil {
			return History{}, fmt.Errorf("pause %q: %w", j.Name, err)
		}
		d.jobs[i].Until = view.UpdateTime
	}
	for until := time.Now().Add(quietBound); d.pending != ""; time.Sleep(50 * time.Millisecond) {
		if d.trigger(ctx); time.Now().After(until) {
			return History{}, fmt.Errorf("the trigger %s was not answered within %s", d.pending, quietBound)
		}
	}
	now := time.Now()
	for i, j := range d.jobs {
		if j.Once {
			d.jobs[i].Until = now.Add(-2 * time.Second) // a later one need not have fired
		}
	}
	until := time.Now().Add(quietBound)
	for {
		h, live, err := d.read(ctx)
		if err != nil || live == 0 || time.Now().After(until) {
			h.Calls = d.target.Calls()
			return h, err
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// read reads all rows and counts the live ones.
func (d *Driver) read(ctx context.Context) (h History, live int, err error) {
	h = History{Jobs: d.jobs, Triggers: d.triggers, Unanswered: d.unanswered}
	for _, j := range d.jobs {
		rows, err := d.client.Executions(ctx, j.ID)
		if err != nil {
			return h, 0, fmt.Errorf("read the executions of %q: %w", j.Name, err)
		}
		for _, r := range rows {
			r.JobID = j.ID
			if r.Status == "WAITING" || r.Status == "RUNNING" {
				live++
			}
			h.Rows = append(h.Rows, r)
		}
	}
	return h, live, nil
}

func (d *Driver) summarize(h History) {
	d.report.Jobs, d.report.Rows, d.report.Calls, d.report.Triggers = len(h.Jobs), len(h.Rows), len(h.Calls), len(h.Triggers)
	for _, r := range h.Rows {
		if r.SkipCount > 0 {
			d.report.Ranges++
		}
		if r.Attempt > 1 {
			d.report.Retried++
		}
		outcome := r.Status
		if r.Reason != "" {
			outcome += "(" + r.Reason + ")"
		}
		d.report.ByStatus[outcome]++
	}
	d.report.Violations = Check(h)
}
