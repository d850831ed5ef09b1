// Package throughput measures executions a second, flat out: beside a bare program,
// and beside coordinated jobs.
package throughput

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// minJobs is the fewest distinct jobs of a throughput.
	minJobs = 20_000
	// expectedShare of the ceiling sizes the load; an engine that is faster
	// ends the measured span early.
	expectedShare = 0.75
	// assumedRate sizes the load when no ceiling was measured.
	assumedRate = 30_000
)

// FlatOut measures executions a second, beside a bare program and coordinated jobs
// where those are asked for.
type FlatOut struct {
	*rig.Bench
	// Ceiling measures the bare program, Coordinated SERIAL jobs too.
	Ceiling, Coordinated bool
	// History is the number of ended runs that the engine finds.
	History int
	// Workers: a worker runs the jobs, and not the node.
	Workers bool
}

// Run lets the engine run flat out. There are enough distinct jobs, with one fire each, all due
// already. Each passes scan, wheel, batch and executor, and every write of a run's life. Ends that
// the store has taken are counted.
func (b FlatOut) Run(ctx context.Context) (report.Result, error) {
	rate, before := assumedRate, 0.0
	if b.Ceiling {
		var err error
		if before, err = b.MeasureCeiling(ctx); err != nil {
			return report.Result{}, err
		}
		rate = int(before)
	}
	r, err := b.measure(ctx, rate, "plain", b.shape)
	if err != nil {
		return r, err
	}
	if b.Coordinated {
		serial, err := b.measure(ctx, rate, "coordinated (SERIAL)", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		if err != nil {
			return r, err
		}
		r.CoordinatedPerSec = serial.ExecutionsPerSecond
		r.Planned += serial.Planned
		r.Lost += serial.Lost
		r.Doubled += serial.Doubled
	}
	if b.Ceiling {
		after, err := b.MeasureCeiling(ctx)
		if err != nil {
			return r, err
		}
		r.CeilingPerSecond = (before + after) / 2
		r.ShareOfCeiling = r.ExecutionsPerSecond / r.CeilingPerSecond
	}
	return r, nil
}

// shape makes a job one of workers where it is to be.
func (b FlatOut) shape(j *entity.Job) {
	if b.Workers {
		rig.ToWorkers(j)
	}
}

// Alone lets the engine run so many jobs flat out, one fire each, and nothing beside them. The executions a second are
// those of entries, from the first tenth to the last one.
func (b FlatOut) Alone(ctx context.Context, jobs int) (report.Result, error) {
	l, s, r, err := b.begin(ctx, jobs, "plain", b.shape)
	if err != nil {
		return r, err
	}
	defer s.Close(ctx)
	b.awaitAll(ctx, s, jobs)
	r.ExecutionsPerSecond = l.Pace()
	if err := s.Stop(ctx); err != nil {
		return r, err
	}
	r.Count(l.Account(s.Now().Add(time.Hour)))
	return r, ctx.Err()
}

// MeasureCeiling is what a bare program reaches on the same machine, in executions a second.
func (b FlatOut) MeasureCeiling(ctx context.Context) (float64, error) {
	perSecond, err := b.shapeF(ctx)
	if err != nil {
		return 0, fmt.Errorf("measure the ceiling: %w", err)
	}
	b.Note("ceiling: bare batched SQL %.0f/s", perSecond)
	return perSecond, nil
}

// measure measures one kind of job.
func (b FlatOut) measure(ctx context.Context, rate int, kind string,
	change func(j *entity.Job),
) (report.Result, error) {
	jobs := max(minJobs, int(expectedShare*float64(rate)*(b.Duration+rig.WarmUp).Seconds()))
	l, s, r, err := b.begin(ctx, jobs, kind, change)
	if err != nil {
		return r, err
	}
	defer s.Close(ctx)
	b.Note("running flat out for %s after %s of warm-up", b.Duration, rig.WarmUp)
	if err := b.Sleep(ctx, rig.WarmUp); err != nil {
		return r, err
	}
	m, err := b.StartMeter(s)
	if err != nil {
		return r, err
	}
	from, at := s.Ended(), b.Clock.Monotonic()
	for b.Clock.Monotonic()-at < b.Duration && int(s.Ended()) < jobs {
		if err := b.Sleep(ctx, 20*time.Millisecond); err != nil {
			return r, err
		}
	}
	took := b.Clock.Monotonic() - at
	r.ExecutionsPerSecond = float64(s.Ended()-from) / took.Seconds()
	m.Read(&r)
	b.Note("%s: %.0f executions/s over %s; letting the rest finish", kind, r.ExecutionsPerSecond,
		took.Round(time.Millisecond))
	b.awaitAll(ctx, s, jobs)
	if err := s.Stop(ctx); err != nil {
		return r, err
	}
	r.History = b.History
	r.Count(l.Account(s.Now().Add(time.Hour)))
	return r, ctx.Err()
}

// begin loads so many jobs that are due already, and starts the system.
func (b FlatOut) begin(ctx context.Context, jobs int, kind string, change func(j *entity.Job)) (
	l *measure.Ledger, s rig.System, r report.Result, err error,
) {
	l = measure.NewLedger(jobs)
	if s, err = b.NewSystem(ctx, l, rig.Shape{Workers: b.Workers}); err != nil {
		return l, s, r, err
	}
	defer func() {
		if err != nil {
			s.Close(ctx)
		}
	}()
	b.Note("loading %d %s jobs, one fire each", jobs, kind)
	now := s.Now().Truncate(time.Millisecond)
	var some []string
	err = b.LoadJobs(ctx, s, 0, jobs, func(i int, j *entity.Job) {
		j.NextFireTime = now.Add(time.Duration(i) * time.Second / time.Duration(jobs)).Truncate(time.Millisecond)
		l.Plan(i, j.NextFireTime, 0)
		if i < minJobs {
			some = append(some, j.ID)
		}
		change(j)
	})
	if err != nil {
		return l, s, r, err
	}
	if err = b.LoadPast(ctx, s, b.History, some); err != nil {
		return l, s, r, err
	}
	r = s.Describe(jobs)
	err = s.Start(ctx)
	return l, s, r, err
}

// drainBound is how long the rest of a load may take.
const drainBound = 10 * time.Minute

// awaitAll waits until every end is stored, or until nothing has ended for a
// while: what is missing then is lost.
func (b FlatOut) awaitAll(ctx context.Context, s rig.System, jobs int) {
	last, since := int64(-1), b.Clock.Monotonic()
	until := since + drainBound
	for b.Clock.Monotonic() < until {
		n := s.Ended()
		if int(n) >= jobs || b.Sleep(ctx, 50*time.Millisecond) != nil {
			return
		}
		if n != last {
			last, since = n, b.Clock.Monotonic()
		} else if b.Clock.Monotonic()-since > rig.StallBound {
			return
		}
	}
}
