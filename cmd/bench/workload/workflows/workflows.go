// Package workflows measures what the edges of workflows cost, beside bare SQL and plain executions of the same turn.
package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/throughput"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/timing"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Edges measures, in turns: chains, random graphs and a map flat out, and chains at a steady rate.
type Edges struct {
	*rig.Bench
	// Steps is about how many steps a flat-out load has, Rate the edges a second of the steady one, Rounds the turns.
	Steps, Rate, Rounds int
}

// turn is what one turn found.
type turn struct {
	bare, chains, graphs, items float64
	edge, late                  *measure.Quantiles
}

// Run takes the turns. Each load has a fresh store; which one begins changes from turn to turn.
func (e Edges) Run(ctx context.Context) (report.Result, error) {
	var out report.Result
	var chains, graphs, items, p50, p99 []float64
	for n := range e.Rounds {
		var t turn
		loads := []func(ctx context.Context, t *turn) (report.Result, error){
			e.bare, e.chains, e.graphs, e.items, e.steady, e.plain,
		}
		for i := range loads {
			r, err := loads[(i+n)%len(loads)](ctx, &t)
			if err != nil {
				return r, err
			}
			planned, lost, doubled := out.Planned+r.Planned, out.Lost+r.Lost, out.Doubled+r.Doubled
			if out.Name == "" {
				out = r
			}
			out.Planned, out.Lost, out.Doubled = planned, lost, doubled
		}
		if t.edge == nil || t.late == nil {
			return out, fmt.Errorf("turn %d has seen no edge; measure longer", n+1)
		}
		chains, graphs = append(chains, t.chains/t.bare), append(graphs, t.graphs/t.chains)
		items = append(items, t.items/t.bare)
		p50, p99 = append(p50, t.edge.P50/t.late.P50), append(p99, t.edge.P99/t.late.P99)
		e.Note("turn %d of %d: bare SQL %.0f/s; edges of chains %.0f/s (%.2f), of graphs %.0f/s (%.2f of chains), "+
			"items %.0f/s (%.2f); an edge at %d/s p50 %.1f ms (%.1f of plain), p99 %.1f ms (%.1f)", n+1, e.Rounds, t.bare,
			t.chains, chains[n], t.graphs, graphs[n], t.items, items[n], e.Rate, t.edge.P50, p50[n], t.edge.P99, p99[n])
	}
	out.ExecutionsPerSecond, out.LatenessMs, out.CPUPercent = 0, nil, 0
	out.Workflows = &report.Workflows{
		Rate: e.Rate, Chains: measure.SpreadOf(chains), Graphs: measure.SpreadOf(graphs), Items: measure.SpreadOf(items),
		P50: measure.SpreadOf(p50), P99: measure.SpreadOf(p99),
	}
	return out, nil
}

func (e Edges) bare(ctx context.Context, t *turn) (r report.Result, err error) {
	t.bare, err = throughput.FlatOut{Bench: e.Bench}.MeasureCeiling(ctx)
	return r, err
}

func (e Edges) plain(ctx context.Context, t *turn) (report.Result, error) {
	r, err := timing.Lateness{Bench: e.Bench, Rate: e.Rate}.Run(ctx)
	t.late = r.LatenessMs
	return r, err
}

func (e Edges) chains(ctx context.Context, t *turn) (r report.Result, err error) {
	r, t.chains, err = e.flatOut(ctx, "chains of 10 steps", chain())
	return r, err
}

func (e Edges) graphs(ctx context.Context, t *turn) (r report.Result, err error) {
	d := randomGraph(rand.New(rand.NewPCG(1, graphSteps))) //nolint:gosec // the same graph in each turn
	r, t.graphs, err = e.flatOut(ctx, "random graphs of 200 steps", d)
	return r, err
}

func (e Edges) items(ctx context.Context, t *turn) (r report.Result, err error) {
	r, t.items, err = e.flatOut(ctx, "maps", wideMap(min(e.Steps, mapItems)))
	return r, err
}

// flatOut runs as many workflows as have about Steps steps, one fire each, all due already.
func (e Edges) flatOut(ctx context.Context, kind string, d *wf.Definition) (
	r report.Result, perSecond float64, err error,
) {
	each, _ := executions(d)
	n := max(e.Steps/each, 1)
	s, err := e.open(ctx)
	if err != nil {
		return r, 0, err
	}
	defer s.Close(ctx)
	e.Note("loading %d %s, one fire each", n, kind)
	now := s.Now().Truncate(time.Millisecond)
	if err := e.load(ctx, s, n, d, func(_ int, j *entity.Job) { j.NextFireTime = now }); err != nil {
		return r, 0, err
	}
	r = s.Describe(n)
	if err := s.Start(ctx); err != nil {
		return r, 0, err
	}
	if err := e.await(ctx, s, n*each); err != nil {
		return r, 0, err
	}
	if err := s.Stop(ctx); err != nil {
		return r, 0, err
	}
	r.Count(s.seen.tally(n * each))
	return r, s.seen.pace(d), nil
}

// steady runs chains that fire once a second each, as many as have Rate edges a second.
func (e Edges) steady(ctx context.Context, t *turn) (r report.Result, err error) {
	d := chain()
	each, edges := executions(d)
	n := max(e.Rate/edges, 1)
	s, err := e.open(ctx)
	if err != nil {
		return r, err
	}
	defer s.Close(ctx)
	e.Note("loading %d chains of 10 steps, each once a second", n)
	begin := s.Now().Truncate(time.Second).Add(rig.StartLead)
	fires := int((rig.WarmUp + e.Duration) / time.Second)
	err = e.load(ctx, s, n, d, func(i int, j *entity.Job) {
		j.Schedule.IntervalMs = time.Second.Milliseconds()
		j.Schedule.StartTime = begin.Add(time.Duration(i) * time.Second / time.Duration(n)).Truncate(time.Millisecond)
		j.Schedule.EndTime = j.Schedule.StartTime.Add(time.Duration(fires)*time.Second - time.Second/2)
		j.NextFireTime = j.Schedule.StartTime
	})
	if err != nil {
		return r, err
	}
	r = s.Describe(n)
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	if err := e.Sleep(ctx, begin.Add(time.Duration(fires)*time.Second).Sub(s.Now())); err != nil {
		return r, err
	}
	if err := e.await(ctx, s, n*fires*each); err != nil {
		return r, err
	}
	if err := s.Stop(ctx); err != nil {
		return r, err
	}
	r.Count(s.seen.tally(n * fires * each))
	t.edge = s.seen.edges(d, begin.Add(rig.WarmUp))
	return r, nil
}

// load inserts workflows of one definition.
func (e Edges) load(ctx context.Context, s system, n int, d *wf.Definition, shape func(i int, j *entity.Job)) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write a workflow as JSON: %w", err)
	}
	return e.LoadJobs(ctx, s, 0, n, func(i int, j *entity.Job) {
		j.Type, j.Class, j.Data = entity.JobWorkflow, "", string(text)
		shape(i, j)
	})
}

// await waits until so many steps were entered and no execution is live, or until nothing has been entered for a while:
// what is missing then is lost.
func (e Edges) await(ctx context.Context, s system, steps int) error {
	last, since := -1, e.Clock.Monotonic()
	for e.Clock.Monotonic()-since < rig.StallBound {
		n := s.seen.count()
		if n >= steps {
			live, err := s.Live(ctx)
			if err != nil || !live {
				return err
			}
		}
		if n != last {
			last, since = n, e.Clock.Monotonic()
		}
		if err := e.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// system is the engine of one load, and what the handlers of its steps saw.
type system struct {
	*rig.InProcess
	seen *seen
}

func (e Edges) open(ctx context.Context) (s system, err error) {
	s.seen = newSeen(e.Clock.Now)
	o := e.Observe(func(...measure.StartEvent) {}, map[string]node.Handler{stepClass: s.seen.handle})
	s.InProcess, err = e.NewInProcess(ctx, o, rig.Shape{})
	return s, err
}
