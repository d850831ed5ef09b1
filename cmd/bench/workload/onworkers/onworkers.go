// Package onworkers compares jobs that a worker runs with the same jobs as handlers of the server.
package onworkers

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/throughput"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/timing"
)

// Compared measures both in turns: flat out, and at a steady rate.
type Compared struct {
	*rig.Bench
	// Jobs run flat out, once each; Rate is the fires a second of the steady load, Rounds the turns.
	Jobs, Rate, Rounds int
}

// Run takes the turns. Each has a fresh store for each of its four loads; which side begins changes from turn to turn.
func (c Compared) Run(ctx context.Context) (report.Result, error) {
	var out report.Result
	var flat, p50, p99 []float64
	for turn := range c.Rounds {
		var pair [2]side // of the server, of a worker
		for i := range pair {
			at := (i + turn) % 2
			r, one, err := c.measure(ctx, at == 1)
			if err != nil {
				return r, err
			}
			planned, lost, doubled := out.Planned, out.Lost, out.Doubled
			if turn == 0 && i == 0 {
				out = r
			}
			out.Planned, out.Lost, out.Doubled = planned+r.Planned, lost+r.Lost, doubled+r.Doubled
			pair[at] = one
		}
		flat = append(flat, pair[1].perSecond/pair[0].perSecond)
		p50 = append(p50, pair[1].late.P50/pair[0].late.P50)
		p99 = append(p99, pair[1].late.P99/pair[0].late.P99)
		c.Note("turn %d of %d: %.0f/s by the server, %.0f/s by a worker (%.2f); entry p50 %.1f and %.1f ms (%.1f), "+
			"p99 %.1f and %.1f ms (%.1f)", turn+1, c.Rounds, pair[0].perSecond, pair[1].perSecond, flat[turn], pair[0].late.P50,
			pair[1].late.P50, p50[turn], pair[0].late.P99, pair[1].late.P99, p99[turn])
	}
	out.ExecutionsPerSecond, out.LatenessMs, out.CPUPercent = 0, nil, 0
	out.Workers = &report.Workers{
		Rate: c.Rate, Throughput: measure.SpreadOf(flat), P50: measure.SpreadOf(p50), P99: measure.SpreadOf(p99),
	}
	return out, nil
}

// side is one side of a turn.
type side struct {
	perSecond float64
	late      *measure.Quantiles
}

func (c Compared) measure(ctx context.Context, worker bool) (r report.Result, s side, err error) {
	r, err = throughput.FlatOut{Bench: c.Bench, Workers: worker}.Alone(ctx, c.Jobs)
	if err != nil {
		return r, s, err
	}
	if err := c.Sleep(ctx, time.Second); err != nil { // what the first load left to the disk
		return r, s, err
	}
	steady, err := timing.Lateness{Bench: c.Bench, Rate: c.Rate, Workers: worker}.Run(ctx)
	r.Planned, r.Lost, r.Doubled = r.Planned+steady.Planned, r.Lost+steady.Lost, r.Doubled+steady.Doubled
	return r, side{r.ExecutionsPerSecond, steady.LatenessMs}, err
}
