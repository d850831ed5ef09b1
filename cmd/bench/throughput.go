package bench

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// warmUp is not measured.
	warmUp = 3 * time.Second
	// minJobs is the fewest distinct jobs of a throughput.
	minJobs = 20_000
	// expectedShare of the ceiling sizes the load; an engine that is faster
	// ends the measured span early.
	expectedShare = 0.75
	// assumedRate sizes the load when no ceiling was measured.
	assumedRate = 30_000
)

// throughput lets the engine run flat out: enough distinct jobs, one fire
// each, all due already, through scan, wheel, batch and executor, and every
// write of the run's life. Counted are ends that the store has taken.
func (b *bench) throughput(ctx context.Context) (Result, error) {
	var ceilings []bare
	if b.Ceiling {
		before, err := b.measureCeilings(ctx)
		if err != nil {
			return Result{}, err
		}
		ceilings = append(ceilings, before)
	}
	rate := assumedRate
	if len(ceilings) > 0 {
		rate = int(ceilings[0].shapeF)
	}
	r, err := b.flatOut(ctx, rate, "plain", func(*entity.Job) {})
	if err != nil {
		return r, err
	}
	if b.Coordinated {
		serial, err := b.flatOut(ctx, rate, "coordinated (SERIAL)", func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		if err != nil {
			return r, err
		}
		r.CoordinatedPerSec = serial.ExecutionsPerSecond
		r.Planned += serial.Planned
		r.Lost += serial.Lost
		r.Doubled += serial.Doubled
	}
	if b.Ceiling {
		after, err := b.measureCeilings(ctx)
		if err != nil {
			return r, err
		}
		ceilings = append(ceilings, after)
		for _, c := range ceilings {
			r.CeilingPerSecond += c.shapeF / float64(len(ceilings))
			r.OwnTablePerSecond += c.ownTable / float64(len(ceilings))
		}
		r.ShareOfCeiling = r.ExecutionsPerSecond / r.CeilingPerSecond
		r.ShareOfOwnTable = r.ExecutionsPerSecond / r.OwnTablePerSecond
	}
	return r, nil
}

// flatOut measures one kind of job.
func (b *bench) flatOut(ctx context.Context, rate int, kind string, change func(j *entity.Job)) (Result, error) {
	jobs := max(minJobs, int(expectedShare*float64(rate)*(b.Duration+warmUp).Seconds()))
	l := newLedger(jobs)
	s, err := b.rig(ctx, l, shape{})
	if err != nil {
		return Result{}, err
	}
	defer s.close(ctx)
	b.note("loading %d %s jobs, one fire each", jobs, kind)
	now := s.now().Truncate(time.Millisecond)
	var some []string
	err = b.load(ctx, s, 0, jobs, func(i int, j *entity.Job) {
		j.NextFireTime = now.Add(time.Duration(i) * time.Second / time.Duration(jobs)).Truncate(time.Millisecond)
		l.plan(i, j.NextFireTime, 0)
		if i < minJobs {
			some = append(some, j.ID)
		}
		change(j)
	})
	if err != nil {
		return Result{}, err
	}
	if err := b.past(ctx, s, some); err != nil {
		return Result{}, err
	}
	r := s.describe(jobs)
	b.note("running flat out for %s after %s of warm-up", b.Duration, warmUp)
	if err := s.start(ctx); err != nil {
		return r, err
	}
	if err := b.sleep(ctx, warmUp); err != nil {
		return r, err
	}
	m, err := b.meter(s)
	if err != nil {
		return r, err
	}
	from, at := s.ended(), b.clock.Monotonic()
	for b.clock.Monotonic()-at < b.Duration && int(s.ended()) < jobs {
		if err := b.sleep(ctx, 20*time.Millisecond); err != nil {
			return r, err
		}
	}
	took := b.clock.Monotonic() - at
	r.ExecutionsPerSecond = float64(s.ended()-from) / took.Seconds()
	m.read(&r)
	b.note("%s: %.0f executions/s over %s; letting the rest finish", kind, r.ExecutionsPerSecond, took.Round(time.Millisecond))
	b.awaitAll(ctx, s, jobs)
	if err := s.stop(ctx); err != nil {
		return r, err
	}
	r.History = b.History
	r.count(l.account(now.Add(time.Hour)))
	return r, ctx.Err()
}

// past loads the runs of the past that were asked for.
func (b *bench) past(ctx context.Context, s writer, jobs []string) error {
	if b.History == 0 {
		return nil
	}
	b.note("loading %d runs of the past", b.History)
	return loadPast(ctx, s, b.History, jobs, b.clock.Now().Add(-time.Hour))
}

// drainBound is how long the rest of a load may take.
const drainBound = 10 * time.Minute

// awaitAll waits until every end is stored, or until nothing has ended for a
// while: what is missing then is lost.
func (b *bench) awaitAll(ctx context.Context, s rig, jobs int) {
	last, since := int64(-1), b.clock.Monotonic()
	until := since + drainBound
	for b.clock.Monotonic() < until {
		n := s.ended()
		if int(n) >= jobs || b.sleep(ctx, 50*time.Millisecond) != nil {
			return
		}
		if n != last {
			last, since = n, b.clock.Monotonic()
		} else if b.clock.Monotonic()-since > stallBound {
			return
		}
	}
}

// stallBound is the time without an end after which nothing more is expected.
const stallBound = 30 * time.Second

// profile writes a CPU profile until the returned function is called.
func (b *bench) profile() (done func(), err error) {
	if b.Profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(b.Profile)
	if err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}
