package monitor

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

const (
	// loadPage is how many jobs are read at once.
	loadPage = 1000
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

// all counts page by page; it is false when the work became too much.
func (c *counting) all(ctx context.Context, q LoadQuery) (bool, error) {
	page := repository.ScheduleQuery{Group: q.Group, Groups: q.Groups, Limit: loadPage}
	for {
		jobs, err := c.LoadService.Jobs.EnabledSchedules(ctx, page)
		if err != nil {
			return false, err
		}
		for _, job := range jobs {
			if c.Machine.Monotonic() >= c.until || !c.add(job) {
				return false, nil
			}
		}
		if len(jobs) < loadPage {
			return true, nil
		}
		page.AfterID = jobs[len(jobs)-1].ID
	}
}

func (c *counting) add(job *entity.Job) bool {
	c.jobs++
	s, err := c.Schedules.Compile(job.Schedule)
	if err != nil {
		return true // it will not fire: the planner says why
	}
	jitter := s.Jitter(job.ID)
	if s.Kind() != schedule.FixedDelay {
		return c.fires.Add(s, jitter)
	}
	if !job.NextFireTime.IsZero() {
		c.fires.AddAt(job.NextFireTime.Add(jitter))
	}
	return true
}
