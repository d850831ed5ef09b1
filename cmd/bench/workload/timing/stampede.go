package timing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ErrBusy refuses a stampede whose engine was ready too late.
var ErrBusy = errors.New("the machine is too busy to measure")

// stampedeBound is how long the runs of the instant may take.
const stampedeBound = 2 * time.Minute

// Stampede measures an instant at which many jobs are due.
type Stampede struct {
	*rig.Bench
	// Jobs is their number; 0 is 10,000.
	Jobs int
}

// Run lets many jobs of all priorities come due at the same instant;
// times count from it. Meanwhile the API is asked.
func (b Stampede) Run(ctx context.Context) (report.Result, error) {
	jobs := b.Jobs
	if jobs == 0 {
		jobs = 10_000
	}
	l := measure.NewLedger(jobs)
	s, err := b.NewSystem(ctx, l, rig.Shape{Served: true})
	if err != nil {
		return report.Result{}, err
	}
	defer s.Close(ctx)
	b.Note("loading %d jobs that come due at one instant", jobs)
	// Loading takes a known time a job at most; the instant lies beyond it.
	instant := s.Now().Truncate(time.Second).Add(b.Lead(rig.StartLead) + time.Duration(jobs)*rig.LoadTime)
	err = b.LoadJobs(ctx, s, 0, jobs, func(i int, j *entity.Job) {
		j.NextFireTime, j.Priority = instant, measure.PriorityOf(uint32(i))
		l.Plan(i, instant, 0)
	})
	if err != nil {
		return report.Result{}, err
	}
	r := s.Describe(jobs)
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	if left := instant.Sub(s.Now()); left < rig.StartLead/2 {
		return r, fmt.Errorf("loading and starting took until %s before the instant: %w", left, ErrBusy)
	}
	b.Note("waiting for the instant")
	return r, b.rush(ctx, s, l, instant, &r)
}

// rush measures the instant.
func (b Stampede) rush(ctx context.Context, s rig.System, l *measure.Ledger, instant time.Time,
	r *report.Result,
) error {
	clients, err := s.Clients(ctx)
	if err != nil {
		return err
	}
	if err := b.Sleep(ctx, instant.Sub(s.Now())-500*time.Millisecond); err != nil {
		return err
	}
	m, err := b.StartMeter(s)
	if err != nil {
		return err
	}
	asking := b.probe(ctx, clients)
	until := b.Clock.Monotonic() + stampedeBound
	for int(s.Ended()) < r.Jobs && b.Clock.Monotonic() < until {
		if err := b.Sleep(ctx, 5*time.Millisecond); err != nil {
			break
		}
	}
	m.Read(r)
	r.Probe = asking()
	if err := s.Stop(ctx); err != nil {
		return err
	}
	r.Count(l.Account(instant.Add(time.Hour)))
	r.LatenessMs, r.LastStartMs = l.Lateness(instant), l.LastAfter(instant)
	r.AddInversions(l.Starts())
	return ctx.Err()
}
