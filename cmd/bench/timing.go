package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// lateness measures handler entry minus due time at a steady rate: so many
// jobs, each once a second, spread evenly over the second, beside others of
// which none is due.
func (b *bench) lateness(ctx context.Context) (Result, error) {
	jobs := b.Rate
	l := newLedger(jobs * int((b.Duration + 2*warmUp).Seconds()))
	s, err := b.rig(ctx, l, shape{})
	if err != nil {
		return Result{}, err
	}
	defer s.close(ctx)
	if b.Jobs > jobs {
		b.note("loading %d jobs of which none is due", b.Jobs-jobs)
		if err := b.sleepers(ctx, s, jobs, b.Jobs); err != nil {
			return Result{}, err
		}
	}
	begin, err := b.firing(ctx, s, l, jobs)
	if err != nil {
		return Result{}, err
	}
	r := s.describe(max(jobs, b.Jobs))
	b.note("firing %d/s for %s after %s of warm-up", jobs, b.Duration, warmUp)
	if err := s.start(ctx); err != nil {
		return r, err
	}
	measured := begin.Add(warmUp)
	if err := b.sleep(ctx, measured.Sub(s.now())); err != nil {
		return r, err
	}
	m, err := b.meter(s)
	if err != nil {
		return r, err
	}
	from, at := s.ended(), b.clock.Monotonic()
	if err := b.sleep(ctx, b.Duration); err != nil {
		return r, err
	}
	took := b.clock.Monotonic() - at
	r.ExecutionsPerSecond = float64(s.ended()-from) / took.Seconds()
	m.read(&r)
	end := s.now()
	if err := s.stop(ctx); err != nil {
		return r, err
	}
	r.History = b.History
	r.count(l.account(end.Add(-time.Second)))
	r.LatenessMs = l.lateness(measured)
	return r, nil
}

// firing loads the jobs that fire, and the past of them, and says from when on
// they do. The past comes first, because it takes long: runs of jobs that are
// not there yet.
func (b *bench) firing(ctx context.Context, s rig, l *ledger, jobs int) (begin time.Time, err error) {
	if err := b.past(ctx, s, []string{"00000000-0000-7000-8000-000000000001"}); err != nil {
		return begin, err
	}
	begin = s.now().Truncate(time.Second).Add(b.lead(warmUp) + time.Duration(jobs)*loadTime)
	b.note("loading %d jobs, each once a second", jobs)
	return begin, b.steady(ctx, s, l, jobs, begin, func(int, *entity.Job) {})
}

const (
	// stampedeLead is the time between the start of the engine and the instant.
	stampedeLead = 5 * time.Second
	// loadTime is the time that loading a job takes at most.
	loadTime = time.Millisecond
	// stampedeBound is how long the runs of the instant may take.
	stampedeBound = 2 * time.Minute
)

// lead is the time between the loading of jobs and the moment from which on
// they fire; nodes have to start meanwhile, and to share the partitions, which
// takes them a lease.
func (b *bench) lead(alone time.Duration) time.Duration {
	if !Clustered(b.Name, b.Nodes) {
		return alone
	}
	return stampedeLead + 2*time.Duration(b.scratch.cfg.Engine.LeaseMs)*time.Millisecond
}

// stampede lets many jobs of all priorities come due at the same instant;
// times count from it. Meanwhile the API is asked.
func (b *bench) stampede(ctx context.Context) (Result, error) {
	jobs := b.Jobs
	if jobs == 0 {
		jobs = 10_000
	}
	l := newLedger(jobs)
	s, err := b.rig(ctx, l, shape{served: true})
	if err != nil {
		return Result{}, err
	}
	defer s.close(ctx)
	b.note("loading %d jobs that come due at one instant", jobs)
	// Loading takes a known time a job at most; the instant lies beyond it.
	instant := s.now().Truncate(time.Second).Add(b.lead(stampedeLead) + time.Duration(jobs)*loadTime)
	err = b.load(ctx, s, 0, jobs, func(i int, j *entity.Job) {
		j.NextFireTime, j.Priority = instant, priorityOf(uint32(i))
		l.plan(i, instant, 0)
	})
	if err != nil {
		return Result{}, err
	}
	r := s.describe(jobs)
	if err := s.start(ctx); err != nil {
		return r, err
	}
	if left := instant.Sub(s.now()); left < stampedeLead/2 {
		return r, fmt.Errorf("loading and starting took until %s before the instant: the machine is too busy to measure", left)
	}
	b.note("waiting for the instant")
	return r, b.rush(ctx, s, l, instant, &r)
}

// rush measures the instant.
func (b *bench) rush(ctx context.Context, s rig, l *ledger, instant time.Time, r *Result) error {
	clients, err := s.clients(ctx)
	if err != nil {
		return err
	}
	if err := b.sleep(ctx, instant.Sub(s.now())-500*time.Millisecond); err != nil {
		return err
	}
	m, err := b.meter(s)
	if err != nil {
		return err
	}
	asking := b.probe(ctx, clients)
	until := b.clock.Monotonic() + stampedeBound
	for int(s.ended()) < r.Jobs && b.clock.Monotonic() < until {
		if err := b.sleep(ctx, 5*time.Millisecond); err != nil {
			break
		}
	}
	m.read(r)
	r.Probe = asking()
	if err := s.stop(ctx); err != nil {
		return err
	}
	r.count(l.account(instant.Add(time.Hour)))
	r.LatenessMs, r.LastStartMs = l.lateness(instant), l.lastAfter(instant)
	r.inversions(l.entries())
	return ctx.Err()
}
