// Package calls measures calls of the REST API beside a firing engine.
package calls

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// callers bounds the calls in progress at once, and the connections.
	callers = 512
	// callTargets are the jobs that calls change; those that fire are others.
	callTargets = 400
	// pastRuns are in the store before the calls begin.
	pastRuns = 100_000
	// callClass is the handler of the runs that calls have triggered.
	callClass = "call"
)

// Calls measures the REST API beside a firing engine.
type Calls struct {
	*rig.Bench
	// Rate is the calls a second, Fires the fires a second beside them.
	Rate, Fires int
}

// Run calls a server at a steady rate while its engine fires.
func (b Calls) Run(ctx context.Context) (report.Result, error) {
	l := measure.NewLedger(b.Fires * int((b.Duration + 2*rig.WarmUp).Seconds()))
	observer := b.Observe(l.See, map[string]node.Handler{callClass: handleCall})
	s, cfg, err := b.OpenServer(ctx, observer)
	if err != nil {
		return report.Result{}, err
	}
	b.Note("loading %d jobs, each once a second, %d to be changed, and %d runs of the past", b.Fires, callTargets,
		pastRuns)
	begin := s.Clock.Now().Truncate(time.Second).Add(2 * rig.WarmUp)
	m := &mix{}
	err = b.LoadSteady(ctx, s.Store, l, b.Fires, begin, func(_ int, j *entity.Job) { m.firing = append(m.firing, j.ID) })
	if err != nil {
		return report.Result{}, err
	}
	err = b.LoadJobs(ctx, s.Store, b.Fires, b.Fires+callTargets, func(_ int, j *entity.Job) {
		j.Class, j.NextFireTime = callClass, begin.Add(24*time.Hour)
		m.free = append(m.free, &target{id: j.ID, name: j.Name, version: 1})
	})
	if err != nil {
		return report.Result{}, err
	}
	if err := rig.InsertPast(ctx, s.Store, pastRuns, m.firing, begin.Add(-time.Hour)); err != nil {
		return report.Result{}, err
	}
	r := b.NewResult(s.Store.Info(), cfg, b.Fires+callTargets)
	if err := s.Start(); err != nil {
		return r, err
	}
	if m.client, err = rig.SignIn(ctx, s.URL(), callers); err != nil {
		return r, err
	}
	if err := m.seed(ctx); err != nil {
		return r, err
	}
	measured := begin.Add(rig.WarmUp)
	reads, writes := Mix()
	b.Note("calling %d times a second, %d %% reads and %d %% writes, beside %d fires a second for %s, after %s of warm-up",
		b.Rate, reads, writes, b.Fires, b.Duration, rig.WarmUp)
	if err := b.Sleep(ctx, begin.Sub(s.Clock.Now())); err != nil {
		return r, err
	}
	b.call(ctx, m, rig.WarmUp)
	used, err := b.StartMeter(nil)
	if err != nil {
		return r, err
	}
	r.API = b.summarizeCalls(b.call(ctx, m, b.Duration))
	used.Read(&r)
	end := s.Clock.Now()
	m.client.HTTP.CloseIdleConnections()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopBound)
	defer cancel()
	if err := s.Stop(stopCtx); err != nil {
		return r, err
	}
	r.Count(l.Account(end.Add(-time.Second)))
	r.LatenessMs = l.Lateness(measured)
	return r, ctx.Err()
}

// handleCall is a run that a call has triggered: it logs a little.
func handleCall(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
	for n := range 20 {
		rep.Log(entity.LogStdout, "row "+strconv.Itoa(n)+" of table orders was copied")
	}
	return entity.Succeeded("")
}

// called is a call that has ended.
type called struct {
	kind *kind
	ms   float64
	err  error
}

// call sends the mix at its rate for a span, whether answers come or not.
func (b Calls) call(ctx context.Context, m *mix, span time.Duration) []called {
	type plan struct {
		at   time.Duration
		kind *kind
		dice uint64
	}
	plans := make(chan plan, b.Rate*int(span/time.Second+1))
	var mu sync.Mutex
	var out []called
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for p := range plans {
				err := p.kind.do(m, ctx, p.dice)
				c := called{p.kind, float64((b.Clock.Monotonic() - p.at).Microseconds()) / 1000, err}
				mu.Lock()
				out = append(out, c)
				mu.Unlock()
			}
		})
	}
	dice := rand.New(rand.NewPCG(1, uint64(span)))
	kinds := shares()
	from := b.Clock.Monotonic()
	for i := 0; ; i++ {
		at := from + time.Duration(i)*time.Second/time.Duration(b.Rate)
		if at-from >= span || b.Sleep(ctx, at-b.Clock.Monotonic()) != nil {
			break
		}
		plans <- plan{at, kinds[dice.IntN(len(kinds))], dice.Uint64()}
	}
	close(plans)
	wg.Wait()
	return out
}

// summarizeCalls sums calls up; a failed one counts as an error, with its time.
func (b Calls) summarizeCalls(all []called) *report.API {
	a := &report.API{
		Calls: len(all), CallsPerSecond: float64(len(all)) / b.Duration.Seconds(),
		ByCall: map[string]*measure.Quantiles{},
	}
	var reads, writes []float64
	by := map[string][]float64{}
	for _, c := range all {
		if c.err != nil {
			if a.Errors++; a.Errors <= 5 {
				b.Note("%s failed: %v", c.kind.name, c.err)
			}
		}
		if c.kind.write {
			writes = append(writes, c.ms)
		} else {
			reads = append(reads, c.ms)
		}
		by[c.kind.name] = append(by[c.kind.name], c.ms)
	}
	a.Reads, a.Writes = measure.Summarize(reads), measure.Summarize(writes)
	for name, ms := range by {
		a.ByCall[name] = measure.Summarize(ms)
	}
	return a
}
