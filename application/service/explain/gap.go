package explain

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// gap is a change of the clocks that leaves a time out.
type gap struct {
	// wall is the time that was asked for, as if the wall clock showed UTC.
	wall   time.Time
	change time.Time
	// from and to are what the wall clock shows before and after the change, in the same way.
	from, to time.Time
	zone     *time.Location
}

// moment is the instant of a time of the wall clock: the earlier of two, and the first one after a change of the
// clocks that leaves it out, which is returned, too.
func moment(wall time.Time, zone *time.Location) (time.Time, *gap) {
	wall = wall.UTC()
	at := civil.Of(wall).In(zone)
	to := civil.Of(at).UTC()
	if to.Equal(wall) {
		return at, nil
	}
	from := civil.Of(at.Add(-time.Nanosecond)).UTC().Add(time.Nanosecond)
	return at, &gap{wall: wall, change: at, from: from, to: to, zone: zone}
}

// gapped explains a time that the clocks left out: what runs instead of it.
func (c *inquiry) gapped(ctx context.Context, g *gap) error {
	p := Params{
		"wallTime": g.wall.Format(time.DateTime), "timeZone": g.zone.String(), "jumpMs": g.to.Sub(g.from), "change": g.change,
	}
	c.say(NotPlanned, NoSuchTime, p)
	if g.change.Before(c.job.CreateTime) {
		c.add(FactMadeLater, "", Params{"createTime": c.job.CreateTime})
		return nil
	}
	entries, _, err := c.Ledger(ctx, entity.LedgerQuery{
		JobID: c.job.ID, From: g.change, To: g.change.Add(time.Millisecond), Limit: 1,
	})
	if err != nil {
		return err
	}
	job, err := c.definition(ctx)
	if err != nil {
		return err
	}
	sched, err := c.Schedules.Compile(job.Schedule)
	if err != nil {
		c.say(NotPlanned, BadSchedule, Params{"error": err.Error()})
		return nil //nolint:nilerr // it is the answer
	}
	next, ok := sched.Next(g.change.Add(-time.Millisecond))
	if inForce(&job.Schedule, g.change) && job.Schedule.Kind == schedule.Cron &&
		sched.Zone() == g.zone.String() && sched.NamesWall(g.from, g.to) {
		switch {
		case job.Schedule.DstGap == cronexpr.Skip:
			c.add(FactGapLeftOut, "", nil)
		case ok && next.Equal(g.change):
			c.add(FactGapMoved, "", Params{"change": g.change})
		default:
			c.add(FactGapRunsOn, "", nil)
		}
	}
	if len(entries) > 0 && (entries[0].RangeEnd.IsZero() || ok && next.Equal(g.change)) {
		e := &entries[0]
		c.answer.Fire = e
		p := Params{"time": e.ScheduledTime, "outcome": e.Outcome, "reason": e.Reason}
		if !e.RangeEnd.IsZero() {
			p["time"] = g.change // one of those that the range holds
		}
		c.add(FactFireThen, "", p)
	} else if ok {
		c.add(FactNextNamed, "", Params{"time": next})
	}
	return nil
}

// inForce reports whether the bounds of a schedule let it fire at a moment.
func inForce(spec *schedule.Spec, at time.Time) bool {
	return !at.Before(spec.StartTime) && (spec.EndTime.IsZero() || !at.After(spec.EndTime))
}
