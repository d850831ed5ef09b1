package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// lateness measures handler entry minus due time at a steady rate: so many
// jobs, each once a second, spread evenly over the second.
func (b *bench) lateness(ctx context.Context) (Result, error) {
	jobs := b.Rate
	watch := newObserver(jobs * int((b.Duration + 2*warmUp).Seconds()))
	e, cfg, err := b.start(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	watch.clock = e.Clock
	begin := e.Clock.Now().Truncate(time.Second).Add(warmUp)
	b.note("loading %d jobs, each once a second", jobs)
	specs := make(map[string]time.Time, jobs)
	err = b.load(ctx, e, jobs, func(i int, j *entity.Job) {
		j.Schedule.IntervalMs = time.Second.Milliseconds()
		j.Schedule.StartTime = begin.Add(time.Duration(i) * time.Second / time.Duration(jobs)).Truncate(time.Millisecond)
		j.NextFireTime = j.Schedule.StartTime
		specs[j.ID] = j.NextFireTime
	})
	if err != nil {
		return Result{}, err
	}
	r := b.result(e, cfg, jobs)
	b.note("firing %d/s for %s after %s of warm-up", jobs, b.Duration, warmUp)
	e.Start()
	measured := begin.Add(warmUp)
	if err := b.sleep(ctx, measured.Sub(e.Clock.Now())); err != nil {
		return r, err
	}
	done, err := b.profile()
	if err != nil {
		return r, err
	}
	used, from, at := b.usage(), watch.completed.Load(), b.clock.Monotonic()
	if err := b.sleep(ctx, b.Duration); err != nil {
		return r, err
	}
	took := b.clock.Monotonic() - at
	r.ExecutionsPerSecond = float64(watch.completed.Load()-from) / took.Seconds()
	r.CPUPercent, r.RSSMb = b.percentSince(used), rssMb()
	done()
	end := e.Clock.Now()
	if err := stop(ctx, e); err != nil {
		return r, err
	}
	r.Planned, r.Lost = b.account(specs, begin, end.Add(-time.Second), watch)
	r.Doubled = watch.doubled()
	watch.forgetBefore(measured)
	r.LatenessMs = watch.lateness()
	return r, nil
}

// account compares the nominal times of each job with what was seen. The
// times are computed here, from the definition, and not read from the engine.
func (b *bench) account(specs map[string]time.Time, begin, end time.Time, watch *observer) (planned, lost int) {
	for id, first := range specs {
		for at := first; at.Before(end); at = at.Add(time.Second) {
			if at.Before(begin) {
				continue
			}
			planned++
			if !watch.saw(id, at) {
				lost++
			}
		}
	}
	return planned, lost
}

// stampedeLead is the time between the start of the engine and the instant.
const stampedeLead = 5 * time.Second

// loadTime is the time that loading a job takes at most.
const loadTime = time.Millisecond

// stampedeBound is how long the runs of the instant may take.
const stampedeBound = 2 * time.Minute

// stampede lets many jobs come due at the same instant; times count from it.
func (b *bench) stampede(ctx context.Context) (Result, error) {
	jobs := b.Jobs
	if jobs == 0 {
		jobs = 10_000
	}
	watch := newObserver(jobs)
	e, cfg, err := b.start(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	watch.clock = e.Clock
	b.note("loading %d jobs that come due at one instant", jobs)
	// Loading takes a known time a job at most; the instant lies beyond it.
	instant := e.Clock.Now().Truncate(time.Second).Add(stampedeLead + time.Duration(jobs)*loadTime)
	if err := b.load(ctx, e, jobs, func(_ int, j *entity.Job) { j.NextFireTime = instant }); err != nil {
		return Result{}, err
	}
	if left := instant.Sub(e.Clock.Now()); left < stampedeLead/2 {
		return Result{}, fmt.Errorf("loading took until %s before the instant: the machine is too busy to measure", left)
	}
	r := b.result(e, cfg, jobs)
	b.note("waiting for the instant")
	e.Start()
	if err := b.sleep(ctx, instant.Sub(e.Clock.Now())-500*time.Millisecond); err != nil {
		return r, err
	}
	done, err := b.profile()
	if err != nil {
		return r, err
	}
	used := b.usage()
	until := b.clock.Monotonic() + stampedeBound
	for int(watch.completed.Load()) < jobs && b.clock.Monotonic() < until {
		if err := b.sleep(ctx, 5*time.Millisecond); err != nil {
			return r, err
		}
	}
	r.CPUPercent, r.RSSMb = b.percentSince(used), rssMb()
	done()
	r.Planned, r.Lost, r.Doubled = jobs, jobs-watch.distinct(), watch.doubled()
	r.LatenessMs, r.LastStartMs = watch.lateness(), watch.lastAfter(instant)
	return r, stop(ctx, e)
}
