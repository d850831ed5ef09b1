package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// standing tells what holds for the job now, where the answer does not say it.
func (c *inquiry) standing(ctx context.Context) error {
	a := c.answer
	if a.Verdict == Planned || a.Verdict == Overdue || a.Code == NoSchedule {
		return nil
	}
	now := c.job
	switch now.Status {
	case entity.JobEnabled:
		if !now.NextFireTime.IsZero() && a.Verdict != NotPlanned {
			p := Params{"time": now.NextFireTime}
			if c.jitter() > 0 {
				p["startTime"] = now.DueTime
			}
			c.add(FactNext, "", p)
		}
		return nil
	case entity.JobFinished:
		if a.Code != Finished && a.Code != OnceOver {
			c.add(FactFinishedNow, "", nil)
		}
	case entity.JobCreated:
		if a.Code != Disabled {
			c.add(FactDisabledNow, "", nil)
		}
	case entity.JobPaused:
		return c.pausedNow(ctx)
	}
	return nil
}

// pausedNow tells that the job is paused, and by what.
func (c *inquiry) pausedNow(ctx context.Context) error {
	if code := c.answer.Code; c.answer.Verdict == NotPlanned &&
		(code == JobPaused || code == GroupPaused || code == AllPaused) {
		return nil
	}
	if c.job.PausedBy == entity.PausedByUser {
		c.add(FactPausedNow, "", c.sincePause(c.job.PausedAt, Params{}.with(c.job.Pause, c.job.PausedAt)))
		c.nextPaused(c.job.Pause.Until)
		return nil
	}
	for _, name := range []string{entity.AllJobs, c.job.Group} {
		g, err := c.group(ctx, name)
		if err != nil {
			return err
		}
		if !g.Paused {
			continue
		}
		p := c.sincePause(g.PausedAt, Params{}.with(g.Pause, g.PausedAt))
		if name == entity.AllJobs {
			c.add(FactAllPausedNow, "", p)
		} else {
			p["group"] = name
			c.add(FactGroupPausedNow, "", p)
		}
		c.nextPaused(g.Pause.Until)
		return nil
	}
	return nil
}

// countedPaused bounds the fires of a pause that are counted.
const countedPaused = 1000

// sincePause adds how many fires of the job a pause has kept from running so far. They become a line of the ledger
// when the pause ends.
func (c *inquiry) sincePause(since time.Time, p Params) Params {
	sched, err := c.Schedules.Compile(c.job.Schedule)
	if err != nil || c.job.Schedule.Kind == schedule.FixedDelay {
		return p // each time of a fixed delay depends on the run before it
	}
	first, ok := c.job.NextFireTime, !c.job.NextFireTime.IsZero()
	if !ok {
		first, ok = sched.Next(since)
	}
	if !ok {
		return p
	}
	switch n, capped := sched.Count(first, c.now.Add(time.Millisecond), countedPaused); {
	case capped:
		p["skipped"] = fmt.Sprintf("%d or more", n)
	case n > 0:
		p["skipped"] = fmt.Sprint(n)
	}
	return p
}

// nextPaused tells when a paused job fires next.
func (c *inquiry) nextPaused(until time.Time) {
	if until.IsZero() {
		c.add(FactNoNext, "", nil)
		return
	}
	sched, err := c.Schedules.Compile(c.job.Schedule)
	if err != nil {
		return // the answer is about its pause; what is wrong with the schedule shows when it is resumed
	}
	if next, ok := sched.Next(until.Add(-time.Millisecond)); ok {
		c.add(FactNextPaused, "", Params{"time": next})
	}
}

// nowFirst puts what holds for the job now before what became of its latest fire, where no moment was asked for.
func (c *inquiry) nowFirst() {
	if !c.latestAsked {
		return
	}
	a := c.answer
	at := slices.IndexFunc(a.Facts, func(f Fact) bool {
		return slices.Contains([]Code{
			FactPausedNow, FactGroupPausedNow, FactAllPausedNow, FactDisabledNow, FactFinishedNow,
		}, f.Code)
	})
	if at < 0 {
		return
	}
	state := a.Facts[at]
	a.Text = state.Text + "; " + a.Text
	a.Facts = slices.Insert(slices.Delete(a.Facts, at, at+1), 0, state)
}

// latestRun tells what became of the latest run of the job, whoever asked for it.
func (c *inquiry) latestRun(ctx context.Context) error {
	if !c.SeesRuns {
		return nil
	}
	rows, _, err := c.Executions.List(ctx, repository.ExecutionFilter{JobID: c.job.ID}, repository.Page{Limit: 1})
	if err != nil || len(rows) == 0 {
		return err
	}
	r := rows[0]
	switch r.Status {
	case entity.StatusWaiting:
		what := r.Claim.WaitsFor()
		c.add(FactLatestWaits, r.ID, Params{"runId": r.ID, "waitsFor": what})
		if c.latestAsked {
			c.say(Waiting, Code(what), Params{"time": r.ScheduledTime, "waitsFor": what})
		}
		begun, err := c.beginnings(ctx, rows)
		if err != nil {
			return err
		}
		c.lostBefore(rows, begun)
		return errors.Join(c.heldBack(ctx, rows), c.waiting(ctx, what, rows))
	case entity.StatusRunning:
		c.add(FactLatestRuns, r.ID, Params{"runId": r.ID})
		begun, err := c.beginnings(ctx, rows)
		if err != nil {
			return err
		}
		if c.latestAsked {
			c.say(Running, Code(r.Status), Params{"time": r.ScheduledTime, "latenessMs": begun.lateness(r)})
		}
		return errors.Join(c.heldBack(ctx, rows), c.running(ctx, rows, begun))
	default:
		c.add(FactLatestEnded, r.ID, Params{"runId": r.ID, "status": string(r.Status), "reason": r.Reason})
	}
	c.answer.Message = r.ErrorMessage
	return c.heldBack(ctx, rows)
}

// The alerts that are told: open ones, and alerts that began about when the fire was.
const (
	alertsRead   = 50
	alertsShown  = 5
	alertsBefore = time.Minute
	alertsAfter  = time.Hour
)

// alerts tells of alerts of the job.
func (c *inquiry) alerts(ctx context.Context) error {
	if !c.SeesAlerts {
		return nil
	}
	all, _, err := c.ExplainService.Alerts.ListAlerts(ctx, repository.AlertFilter{JobID: c.job.ID},
		repository.Page{Limit: alertsRead})
	if err != nil {
		return err
	}
	shown := 0
	for _, a := range all {
		about := !a.PendingSince.Before(c.answer.Time.Add(-alertsBefore)) &&
			a.PendingSince.Before(c.answer.Time.Add(alertsAfter))
		if a.Status == alert.Pending || !a.Open() && !about || shown == alertsShown {
			continue
		}
		shown++
		c.add(FactAlert, a.ID, Params{
			"level": a.Level, "type": a.Type, "status": string(a.Status), "since": a.PendingSince, "content": a.Content,
		})
	}
	return nil
}
