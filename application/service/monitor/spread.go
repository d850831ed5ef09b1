package monitor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// SpreadQuery asks what a jitter would do to the jobs that fire in a minute.
type SpreadQuery struct {
	// Minute is cut to its minute.
	Minute time.Time
	Jitter time.Duration
	// Group is one group, empty all; Groups are those that may be changed, nil all.
	Group  string
	Groups []string
	// Most bounds the jobs of a Spread.
	Most int
}

// SpreadJob is a job that fires in the minute, and would get the jitter.
type SpreadJob struct {
	ID string
	// Fires is how often it fires in the minute; Jitter is what it has now.
	Fires  int
	Jitter time.Duration
}

// Spread is what a jitter would do, minute by minute from the asked one on.
type Spread struct {
	From          time.Time
	Before, After []int
	Jobs          []SpreadJob
	// Kept is how many jobs fire in the minute and stay as they are: they have as much jitter, or an interval
	// that is not longer.
	Kept int
	// More: there are more jobs than Most. Complete is false when there was too much to count.
	More, Complete bool
}

// Spread counts the fires of the minutes from one on that a jitter reaches, as they are planned, and as they would be
// if the jobs that fire in the first one had it.
func (s *LoadService) Spread(ctx context.Context, q SpreadQuery) (Spread, error) {
	if q.Minute.Year() > cronexpr.MaxYear {
		return Spread{}, apperror.InvalidField("minute", "out_of_range",
			"must not be after the year 2199, in which schedules end")
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return Spread{}, ctx.Err()
	}
	minutes := int((q.Jitter+time.Minute-1)/time.Minute) + 1
	c := spreading{
		LoadService: s, query: q, until: s.Machine.Monotonic() + loadTime,
		before: schedule.NewLoad(q.Minute, minutes, loadSteps), after: schedule.NewLoad(q.Minute, minutes, loadSteps),
	}
	complete, err := c.all(ctx)
	if err != nil {
		return Spread{}, err
	}
	c.out.From, c.out.Complete = q.Minute.Truncate(time.Minute), complete
	c.out.Before, c.out.After = c.before.Fires(), c.after.Fires()
	return c.out, nil
}

// spreading is one count, twice.
type spreading struct {
	*LoadService
	query         SpreadQuery
	until         time.Duration
	before, after *schedule.Load
	out           Spread
}

func (c *spreading) all(ctx context.Context) (bool, error) {
	jobs, err := c.LoadService.Jobs.EnabledSchedules(ctx, repository.ScheduleQuery{
		Group: c.query.Group, Groups: c.query.Groups, Limit: loadJobs, IDs: true,
	})
	if err != nil {
		return false, err
	}
	slices.SortFunc(jobs, func(a, b repository.Planned) int { return strings.Compare(a.ID, b.ID) })
	known := map[schedule.Spec]*schedule.Schedule{}
	compiled := func(spec schedule.Spec) *schedule.Schedule {
		s, ok := known[spec]
		if !ok {
			s = c.compile(&spec).schedule
			known[spec] = s
		}
		return s
	}
	for i := range jobs {
		if c.Machine.Monotonic() >= c.until || !c.add(&jobs[i], compiled) {
			return false, nil
		}
	}
	return len(jobs) < loadJobs, nil
}

// add counts a job twice; it is false when the steps are used up.
func (c *spreading) add(job *repository.Planned, compiled func(spec schedule.Spec) *schedule.Schedule) bool {
	earlier, next := c.before.Fires()[0], *job.Schedule
	if !count(c.before, job, compiled(next)) {
		return false
	}
	fires := c.before.Fires()[0] - earlier
	if spread, ok := c.spread(next, compiled); fires > 0 && ok {
		if len(c.out.Jobs) < c.query.Most {
			c.out.Jobs = append(c.out.Jobs, SpreadJob{
				ID: job.ID, Fires: fires, Jitter: time.Duration(next.JitterMs) * time.Millisecond,
			})
			next = spread
		} else {
			c.out.More = true
		}
	} else if fires > 0 {
		c.out.Kept++
	}
	return count(c.after, job, compiled(next))
}

// spread is the schedule with the jitter; false where it has as much, or cannot have so much, as it is no shorter than
// the interval.
func (c *spreading) spread(s schedule.Spec,
	compiled func(spec schedule.Spec) *schedule.Schedule,
) (schedule.Spec, bool) {
	if s.JitterMs >= c.query.Jitter.Milliseconds() {
		return s, false
	}
	s.JitterMs = c.query.Jitter.Milliseconds()
	return s, compiled(s) != nil
}
