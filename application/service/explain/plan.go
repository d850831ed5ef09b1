package explain

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// toCome explains a fire of the schedule that nobody has decided about.
func (c *inquiry) toCome(ctx context.Context, e *entity.LedgerEntry) error {
	if !c.overdue(e.ScheduledTime) {
		start := e.ScheduledTime.Add(c.jitter())
		c.say(Planned, NotDue, Params{"time": e.ScheduledTime, "inMs": start.Sub(c.now)})
		c.jitters(e.ScheduledTime)
		return nil
	}
	code := Undecided
	all, err := c.Nodes.All(ctx)
	if err != nil {
		return err
	}
	owner := partition.Table(partition.Members(all))[c.job.Partition]
	if owner == "" && c.standby(all) {
		code = AllStandBy // standsBy says why
	} else if owner == "" {
		code = NoScheduler
		c.add(FactNobodyFires, "", nil)
	}
	c.say(Overdue, code, Params{
		"time": e.ScheduledTime, "overdueMs": c.now.Sub(e.ScheduledTime.Add(c.jitter())),
	})
	for _, n := range all {
		if owner != "" && n.ID == owner {
			c.add(FactNodePlans, n.ID, Params{
				"nodeId": n.ID, "status": string(n.Status), "lastHeartbeat": n.LastHeartbeat,
			})
		}
	}
	return nil
}

// jitters tells how far the jitter of the job moves the start of a fire to come.
func (c *inquiry) jitters(scheduled time.Time) {
	if c.jitter() > 0 {
		c.add(FactJitter, "", Params{"jitterMs": c.jitter(), "startTime": scheduled.Add(c.jitter())})
	}
}

// nothing explains a moment that is in no line of the ledger.
func (c *inquiry) nothing(ctx context.Context) error {
	job, err := c.definition(ctx)
	if err != nil {
		return err
	}
	if job.Schedule.Kind == schedule.None || job.Schedule.Kind == "" {
		c.say(NotPlanned, NoSchedule, nil)
		return c.latestRun(ctx)
	}
	if c.At.Before(c.job.CreateTime) {
		c.say(NotPlanned, NotCreated, Params{"time": c.At, "createTime": c.job.CreateTime})
		return nil
	}
	held, err := c.held(ctx, job)
	if err != nil || held {
		return err
	}
	if err := c.beside(job); err != nil {
		c.say(NotPlanned, BadSchedule, Params{"error": err.Error()})
	}
	if c.At.After(c.now) {
		return nil
	}
	before, err := c.before(ctx, c.At)
	if err != nil || before == nil {
		return err
	}
	c.add(FactBefore, "", Params{"time": before.ScheduledTime, "outcome": before.Outcome, "reason": before.Reason})
	return nil
}

// historyPage is how many versions of a job are looked through.
const historyPage = 100

// definition is the job as it was defined at the moment, as far as that is known.
func (c *inquiry) definition(ctx context.Context) (*entity.Job, error) {
	if c.job.Version <= 1 || !c.At.Before(c.job.UpdateTime) || c.At.Before(c.job.CreateTime) {
		return c.job, nil
	}
	versions, _, err := c.Jobs.History(ctx, c.job.ID, repository.Page{Limit: historyPage})
	if err != nil {
		return nil, err
	}
	for _, v := range versions { // newest first
		if v.UpdateTime.After(c.At) {
			continue
		}
		if v.Version != c.job.Version {
			c.add(FactChanged, "", Params{"then": v.Version, "now": c.job.Version})
		}
		return v, nil
	}
	return c.job, nil
}

// held explains a job that its own state, or that of its group, kept from being planned.
func (c *inquiry) held(ctx context.Context, then *entity.Job) (bool, error) {
	now := c.job
	switch {
	case now.Status == entity.JobPaused && !c.At.Before(now.PausedAt) && now.PausedBy == entity.PausedByUser &&
		(now.Pause.Until.IsZero() || c.At.Before(now.Pause.Until)):
		c.say(NotPlanned, JobPaused, c.sincePause(now.PausedAt, Params{"time": c.At}.with(now.Pause, now.PausedAt)))
		return true, nil
	case now.Status == entity.JobPaused && now.PausedBy == entity.PausedByGroup, now.Status == entity.JobEnabled:
		return c.heldByGroup(ctx)
	case now.Status == entity.JobCreated, then.Status == entity.JobCreated:
		c.say(NotPlanned, Disabled, Params{"time": c.At})
		return true, nil
	}
	return false, nil
}

// heldByGroup explains the pause of a group, or of all jobs.
func (c *inquiry) heldByGroup(ctx context.Context) (bool, error) {
	for _, one := range []struct {
		name string
		code Code
	}{{entity.AllJobs, AllPaused}, {c.job.Group, GroupPaused}} {
		g, err := c.group(ctx, one.name)
		if err != nil {
			return false, err
		}
		if g.Paused && !c.At.Before(g.PausedAt) && (g.Pause.Until.IsZero() || c.At.Before(g.Pause.Until)) {
			p := c.sincePause(g.PausedAt, Params{"time": c.At}.with(g.Pause, g.PausedAt))
			if one.code == GroupPaused {
				p["group"] = one.name
			}
			c.say(NotPlanned, one.code, p)
			return true, nil
		}
	}
	return false, nil
}

// beside explains a moment by the schedule that held then.
func (c *inquiry) beside(job *entity.Job) error {
	spec := job.Schedule
	sched, err := c.Schedules.Compile(spec)
	if err != nil {
		return err
	}
	switch {
	case !spec.StartTime.IsZero() && c.At.Before(spec.StartTime):
		c.say(NotPlanned, BeforeStart, Params{"time": c.At, "startTime": spec.StartTime})
		return nil
	case !spec.EndTime.IsZero() && c.At.After(spec.EndTime):
		c.say(NotPlanned, AfterEnd, Params{"time": c.At, "endTime": spec.EndTime})
		return nil
	case spec.Kind == schedule.Once && c.At.After(spec.At):
		c.say(NotPlanned, OnceOver, Params{"time": c.At, "at": spec.At})
		return nil
	case spec.Kind == schedule.FixedDelay:
		c.say(NotPlanned, AfterRun, Params{"time": c.At})
		return nil
	}
	first, ok := sched.Next(c.At.Add(-time.Millisecond))
	if ok && first.Before(c.At.Add(minute)) {
		return c.unrecorded(first)
	}
	described := sched.Describe(schedule.English)
	if code, p := c.clocks(spec); code != "" {
		c.say(NotPlanned, code, p)
	} else if !ok && c.job.Status == entity.JobFinished {
		c.say(NotPlanned, Finished, Params{"time": c.At})
	} else {
		c.say(NotPlanned, NotInSchedule, Params{"time": c.At, "schedule": described})
		if r, refused := sched.Refuses(c.At); refused {
			c.add(FactField, "", Params{
				"cronField": r.Field, "cronValue": Names(r.Value), "cronNames": Names(r.Names),
			})
		}
	}
	if ok {
		c.add(FactNextNamed, "", Params{"time": first})
	}
	return nil
}

// unrecorded explains a time that the schedule names, although the ledger has no line of it.
func (c *inquiry) unrecorded(named time.Time) error {
	switch {
	case c.Kept > 0 && named.Before(c.now.Add(-c.Kept)):
		c.say(Unknown, TooOld, Params{"time": named, "keptDays": int(c.Kept.Hours() / 24)})
	case c.job.Status == entity.JobPaused:
		// The pause ends by itself before that time.
		c.say(Planned, AfterPause, Params{"time": named})
	case named.After(c.now):
		c.say(Planned, NotDue, Params{"time": named})
		c.jitters(named)
	default:
		c.say(Unknown, NoRecord, Params{"time": named})
	}
	return nil
}
