package monitor

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

const (
	// loadJobs bounds the jobs of a count, and its memory: 100 bytes each.
	loadJobs = 2_000_000
	// loadSteps and loadTime bound the work of one count.
	loadSteps = 2_000_000
	loadTime  = 5 * time.Second
)

// LoadQuery asks for the planned fires of some minutes.
type LoadQuery struct {
	// From is cut to its minute; zero is the present one.
	From time.Time
	// Minutes is how many, from 1.
	Minutes int
	// Group is one group, empty all; Groups are those that may be seen, nil all.
	Group  string
	Groups []string
}

// Load is the planned fires, minute by minute.
type Load struct {
	From  time.Time
	Fires []int
	// Jobs is how many enabled jobs were counted.
	Jobs int
	// Complete is false when there were too many: some are missing then.
	Complete bool
}

// LoadDeps are the parts of a LoadService.
type LoadDeps struct {
	Jobs      repository.ScheduleReader
	Schedules admission.Compiler
	// Clock tells what is the present, Machine how long a count takes.
	Clock   clock.StoreClock
	Machine clock.Clock
}

// LoadService tells how much is planned. It counts for one caller at a time,
// as a count may take a processor for seconds. Safe for concurrent use.
type LoadService struct {
	LoadDeps
	turn chan struct{}
}

// NewLoadService wires the parts.
func NewLoadService(d LoadDeps) *LoadService {
	return &LoadService{LoadDeps: d, turn: make(chan struct{}, 1)}
}

// Load counts the fires that the present schedules of enabled jobs name. A fire of several
// shards counts once. A fixed delay counts with the one fire that is planned.
func (s *LoadService) Load(ctx context.Context, q LoadQuery) (Load, error) {
	if q.From.IsZero() {
		q.From = s.Clock.Now()
	}
	if q.From.Year() > cronexpr.MaxYear {
		return Load{}, apperror.InvalidField("from", "out_of_range",
			"must not be after the year 2199, in which schedules end")
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return Load{}, ctx.Err()
	}
	c := counting{
		LoadService: s, until: s.Machine.Monotonic() + loadTime,
		fires: schedule.NewLoad(q.From, q.Minutes, loadSteps),
	}
	complete, err := c.all(ctx, q)
	if err != nil {
		return Load{}, err
	}
	return Load{From: q.From.Truncate(time.Minute), Fires: c.fires.Fires(), Jobs: c.jobs, Complete: complete}, nil
}

// counting is one count.
type counting struct {
	*LoadService
	until time.Duration
	fires *schedule.Load
	jobs  int
}

// all counts all jobs; it is false when the work became too much. Jobs that share a schedule without jitter count at
// once.
func (c *counting) all(ctx context.Context, q LoadQuery) (bool, error) {
	jobs, err := c.LoadService.Jobs.EnabledSchedules(ctx,
		repository.ScheduleQuery{Group: q.Group, Groups: q.Groups, Limit: loadJobs})
	if err != nil {
		return false, err
	}
	known := map[*schedule.Spec]*shared{}
	for i := range jobs {
		job := &jobs[i]
		s := known[job.Schedule]
		if s == nil {
			s = c.compile(job.Schedule)
			known[job.Schedule] = s
		}
		if s.alike {
			s.jobs++
			continue
		}
		if c.Machine.Monotonic() >= c.until {
			return false, nil
		}
		if c.jobs++; !count(c.fires, job, s.schedule) {
			return false, nil
		}
	}
	for _, s := range known {
		if s.jobs == 0 {
			continue
		}
		if c.Machine.Monotonic() >= c.until {
			return false, nil
		}
		if c.jobs += s.jobs; !c.fires.Add(s.schedule, 0, s.jobs) {
			return false, nil
		}
	}
	return len(jobs) < loadJobs, nil
}

// shared is a schedule, and how many jobs have it.
type shared struct {
	// schedule is nil where it does not compile: it will not fire, and the planner says why.
	schedule *schedule.Schedule
	// alike: it means the same fires for all its jobs, which are counted in jobs.
	alike bool
	jobs  int
}

func (s *LoadService) compile(spec *schedule.Spec) *shared {
	compiled, err := s.Schedules.Compile(*spec)
	if err != nil {
		return &shared{}
	}
	return &shared{schedule: compiled, alike: spec.JitterMs == 0 && compiled.Kind() != schedule.FixedDelay}
}

// count adds what a job fires by a schedule, which is nil where it does not compile; it is false when the steps are
// used up.
func count(load *schedule.Load, job *repository.Planned, s *schedule.Schedule) bool {
	if s == nil {
		return true
	}
	jitter := s.Jitter(job.ID)
	if s.Kind() != schedule.FixedDelay {
		return load.Add(s, jitter, 1)
	}
	if !job.Next.IsZero() {
		load.AddAt(job.Next.Add(jitter))
	}
	return true
}
