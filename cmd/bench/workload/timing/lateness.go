// Package timing measures when fires start: at a steady rate, and at an instant at
// which many are due.
package timing

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Lateness measures how late handlers are entered.
type Lateness struct {
	*rig.Bench
	// Rate is the fires a second; Jobs beyond it are never due.
	Rate, Jobs int
	// History is the number of ended runs that the engine finds.
	History int
	// Together: all jobs are due on whole seconds, and not spread evenly over them.
	Together bool
	// Workers: a worker runs the jobs, and not the node.
	Workers bool
}

// Run measures handler entry minus due time at a steady rate. Each job fires once a second, spread
// evenly over the second or all together, beside jobs of which none is due.
func (b Lateness) Run(ctx context.Context) (report.Result, error) {
	jobs := b.Rate
	l := measure.NewLedger(jobs * int((b.Duration + 2*rig.WarmUp).Seconds()))
	s, err := b.NewSystem(ctx, l, rig.Shape{Workers: b.Workers})
	if err != nil {
		return report.Result{}, err
	}
	defer s.Close(ctx)
	if b.Jobs > jobs {
		b.Note("loading %d jobs of which none is due", b.Jobs-jobs)
		if err := b.LoadSleepers(ctx, s, jobs, b.Jobs); err != nil {
			return report.Result{}, err
		}
	}
	begin, err := b.firing(ctx, s, l, jobs)
	if err != nil {
		return report.Result{}, err
	}
	r := s.Describe(max(jobs, b.Jobs))
	b.Note("firing %d/s for %s after %s of warm-up", jobs, b.Duration, rig.WarmUp)
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	measured := begin.Add(rig.WarmUp)
	if err := b.Sleep(ctx, measured.Sub(s.Now())); err != nil {
		return r, err
	}
	m, err := b.StartMeter(s)
	if err != nil {
		return r, err
	}
	from, at := s.Ended(), b.Clock.Monotonic()
	if err := b.Sleep(ctx, b.Duration); err != nil {
		return r, err
	}
	took := b.Clock.Monotonic() - at
	r.ExecutionsPerSecond = float64(s.Ended()-from) / took.Seconds()
	m.Read(&r)
	end := s.Now()
	if err := s.Stop(ctx); err != nil {
		return r, err
	}
	r.History = b.History
	r.Count(l.Account(end.Add(-time.Second)))
	r.LatenessMs = l.Lateness(measured)
	return r, nil
}

// firing loads the jobs that fire, and the past of them, and says from when on
// they do. The past comes first, because it takes long: runs of jobs that are
// not there yet.
func (b Lateness) firing(ctx context.Context, s rig.System, l *measure.Ledger, jobs int) (begin time.Time, err error) {
	if err := b.LoadPast(ctx, s, b.History, []string{"00000000-0000-7000-8000-000000000001"}); err != nil {
		return begin, err
	}
	begin = s.Now().Truncate(time.Second).Add(b.Lead(rig.WarmUp) + time.Duration(jobs)*rig.LoadTime)
	b.Note("loading %d jobs, each once a second", jobs)
	load := b.LoadSteady
	if b.Together {
		load, begin = b.LoadTogether, begin.Truncate(time.Second).Add(time.Second)
	}
	return begin, load(ctx, s, l, jobs, begin, func(_ int, j *entity.Job) {
		if b.Workers {
			rig.ToWorkers(j)
		}
	})
}
