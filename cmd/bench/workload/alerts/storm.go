package alerts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// weather is how a load of the storm goes.
type weather int

const (
	// calm: nothing fails. heard: failures come, and their receiver works. unheard: it is down.
	calm weather = iota
	heard
	unheard
	weathers
)

func (w weather) String() string { return [...]string{"calm", "storm", "storm, receiver down"}[w] }

// Storm measures what failures cost the other runs: the same load without and with them, in turns
// of random order.
type Storm struct {
	*rig.Bench
	// Rate is the jobs that fire once a second each, Burst the failures a minute among them.
	Rate, Burst, Rounds int
}

// Run measures so many turns.
func (b Storm) Run(ctx context.Context) (report.Result, error) {
	out := &report.Storm{FailuresPerMinute: b.failing() * 60}
	var all report.Result
	for turn := range b.Rounds {
		var costs [weathers]report.Cost
		for _, w := range rand.Perm(int(weathers)) {
			r, err := b.measure(ctx, weather(w))
			if err != nil {
				return all, err
			}
			costs[w] = report.CostOf(r)
			b.Note("turn %d, %s: %.1f µs of CPU per execution, %.0f/s, %s", turn+1, weather(w), costs[w].CPUMicros,
				r.ExecutionsPerSecond, r.LatenessMs)
			r.Planned, r.Lost, r.Doubled = r.Planned+all.Planned, r.Lost+all.Lost, r.Doubled+all.Doubled
			all = r
		}
		out.Add(costs[calm], costs[heard], costs[unheard])
	}
	out.Conclude()
	all.Storm, all.CPUPercent, all.ExecutionsPerSecond, all.LatenessMs = out, 0, 0, nil
	return all, nil
}

// failing is the number of jobs that fail once a second.
func (b Storm) failing() int { return min((b.Burst+59)/60, b.Rate) }

// measure measures one load on a store and a server of its own.
func (b Storm) measure(ctx context.Context, w weather) (r report.Result, err error) {
	runtime.GC() // what the load before has left is not this one's
	l := measure.NewLedger(b.Rate * int((b.Duration + 2*rig.WarmUp).Seconds()))
	s, err := b.NewSystem(ctx, l, rig.Shape{Served: true})
	if err != nil {
		return r, err
	}
	defer s.Close(ctx)
	in, err := measure.NewReceiver(ctx, s.Now)
	if err != nil {
		return r, err
	}
	defer in.Close()
	if w == unheard {
		in.Close() // its port refuses connections
	}
	begin := s.Now().Truncate(time.Second).Add(b.Lead(rig.StartLead) + setupSpan + time.Duration(b.Rate)*rig.LoadTime)
	step := b.Rate / b.failing()
	err = b.LoadSteady(ctx, s, l, b.Rate, begin, func(i int, j *entity.Job) {
		j.Schedule.EndTime = j.Schedule.StartTime.Add(rig.WarmUp + b.Duration - time.Second/2)
		if i%step == 0 && i/step < b.failing() {
			j.Group = burst
			if w != calm {
				j.Class = node.FailClass
			}
		}
	})
	if err != nil {
		return r, err
	}
	r = s.Describe(b.Rate)
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	clients, err := s.Clients(ctx)
	if err != nil {
		return r, err
	}
	if err := define(ctx, clients[0], in); err != nil {
		return r, err
	}
	measured := begin.Add(rig.WarmUp)
	if left := measured.Sub(s.Now()); left < 0 {
		return r, fmt.Errorf("the start took %s longer than this bench allows for", -left)
	}
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
	planned := int64(b.Rate) * int64((rig.WarmUp + b.Duration).Seconds())
	err = await(ctx, b.Bench, 20*time.Millisecond, func() (bool, error) { return s.Ended() >= planned, nil })
	if err != nil && !errors.Is(err, errLate) { // what is missing is counted below
		return r, err
	}
	if err := s.Stop(ctx); err != nil {
		return r, err
	}
	r.Count(l.Account(measured.Add(b.Duration)))
	r.LatenessMs = l.Lateness(measured)
	if w == heard && in.Count(burst) == 0 { // the figures would be those of a calm
		return r, fmt.Errorf("no failure was told within %s", b.Duration+rig.WarmUp)
	}
	return r, nil
}
