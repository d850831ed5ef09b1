package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// callers bounds the calls in progress at once, and the connections.
	callers = 512
	// callTargets are the jobs that calls change; those that fire are others.
	callTargets = 400
	// pastRuns are in the store before the calls begin.
	pastRuns = 100_000
	// callClass tells runs that calls have triggered from those of the fires.
	callClass = "call"
)

// API is how long calls of the REST API took beside a firing engine, in ms
// from the moment that was planned for each: a server that stalls is charged
// for all calls that should have begun meanwhile.
type API struct {
	CallsPerSecond float64              `json:"callsPerSecond"`
	Calls          int                  `json:"calls"`
	Errors         int                  `json:"errors"`
	Reads          *Lateness            `json:"readsMs"`
	Writes         *Lateness            `json:"writesMs"`
	ByCall         map[string]*Lateness `json:"byCallMs"`
}

// api calls a server at a steady rate while its engine fires.
func (b *bench) api(ctx context.Context) (Result, error) {
	l := newLedger(b.Fires * int((b.Duration + 2*warmUp).Seconds()))
	watch := &observer{bench: b, see: l.see}
	s, cfg, err := b.serve(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	b.note("loading %d jobs, each once a second, %d to be changed, and %d runs of the past", b.Fires, callTargets, pastRuns)
	begin := s.Clock.Now().Truncate(time.Second).Add(2 * warmUp)
	m := &mix{}
	err = b.steady(ctx, s.Store, l, b.Fires, begin, func(_ int, j *entity.Job) { m.firing = append(m.firing, j.ID) })
	if err != nil {
		return Result{}, err
	}
	err = b.load(ctx, s.Store, b.Fires, b.Fires+callTargets, func(_ int, j *entity.Job) {
		j.Class, j.NextFireTime = callClass, begin.Add(24*time.Hour)
		m.free = append(m.free, &target{id: j.ID, name: j.Name, version: 1})
	})
	if err != nil {
		return Result{}, err
	}
	if err := loadPast(ctx, s.Store, pastRuns, m.firing, begin.Add(-time.Hour)); err != nil {
		return Result{}, err
	}
	r := b.result(s.Store.Info(), cfg, b.Fires+callTargets)
	if err := s.Start(); err != nil {
		return r, err
	}
	if m.client, err = signIn(ctx, s.URL(), callers); err != nil {
		return r, err
	}
	if err := m.seed(ctx); err != nil {
		return r, err
	}
	measured := begin.Add(warmUp)
	b.note("calling %d times a second beside %d fires a second for %s, after %s of warm-up", b.Rate, b.Fires, b.Duration, warmUp)
	if err := b.sleep(ctx, begin.Sub(s.Clock.Now())); err != nil {
		return r, err
	}
	b.call(ctx, m, warmUp)
	done, err := b.profile()
	if err != nil {
		return r, err
	}
	used := b.usage()
	r.API = b.summarizeCalls(b.call(ctx, m, b.Duration))
	r.CPUPercent, r.RSSMb = b.percentSince(used), rssMb(os.Getpid())
	done()
	end := s.Clock.Now()
	m.client.HTTP.CloseIdleConnections()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := s.Stop(stopCtx); err != nil {
		return r, err
	}
	r.count(l.account(end.Add(-time.Second)))
	r.LatenessMs = l.lateness(measured)
	return r, ctx.Err()
}

// called is a call that has ended.
type called struct {
	kind *kind
	ms   float64
	err  error
}

// call sends the mix at its rate for a span, whether answers come or not.
func (b *bench) call(ctx context.Context, m *mix, span time.Duration) []called {
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
				c := called{p.kind, float64((b.clock.Monotonic() - p.at).Microseconds()) / 1000, err}
				mu.Lock()
				out = append(out, c)
				mu.Unlock()
			}
		})
	}
	dice := rand.New(rand.NewPCG(1, uint64(span)))
	kinds := shares()
	from := b.clock.Monotonic()
	for i := 0; ; i++ {
		at := from + time.Duration(i)*time.Second/time.Duration(b.Rate)
		if at-from >= span || b.sleep(ctx, at-b.clock.Monotonic()) != nil {
			break
		}
		plans <- plan{at, kinds[dice.IntN(len(kinds))], dice.Uint64()}
	}
	close(plans)
	wg.Wait()
	return out
}

// summarizeCalls sums calls up; a failed one counts as an error, with its time.
func (b *bench) summarizeCalls(all []called) *API {
	a := &API{Calls: len(all), CallsPerSecond: float64(len(all)) / b.Duration.Seconds(), ByCall: map[string]*Lateness{}}
	var reads, writes []float64
	by := map[string][]float64{}
	for _, c := range all {
		if c.err != nil {
			if a.Errors++; a.Errors <= 5 {
				b.note("%s failed: %v", c.kind.name, c.err)
			}
		}
		if c.kind.write {
			writes = append(writes, c.ms)
		} else {
			reads = append(reads, c.ms)
		}
		by[c.kind.name] = append(by[c.kind.name], c.ms)
	}
	a.Reads, a.Writes = summarize(reads), summarize(writes)
	for name, ms := range by {
		a.ByCall[name] = summarize(ms)
	}
	return a
}

// loadPast inserts so many ended runs of jobs, the last of them at a moment; one
// in fifty has failed.
func loadPast(ctx context.Context, s writer, many int, jobs []string, last time.Time) error {
	numbers := make([]int, many)
	for i := range numbers {
		numbers[i] = i
	}
	for part := range slices.Chunk(numbers, 10*loadBatch) {
		runs := make([]*entity.Execution, len(part))
		for i, n := range part {
			at, job := last.Add(time.Duration(n-many)*5*time.Millisecond), jobs[n%len(jobs)]
			key := identity.FireKey(at)
			runs[i] = &entity.Execution{
				ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
				Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusSuccess, NodeID: "node-0",
				Epoch: 1, Token: 1, Attempt: 1, StartTime: at, EndTime: at, CreateTime: at, UpdateTime: at,
			}
			if n%50 == 0 {
				runs[i].Status, runs[i].Reason = entity.StatusFailed, entity.ReasonError
			}
		}
		err := s.Write(ctx, repository.LaneAPI, "bench.past", func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, runs) })
		if err != nil {
			return fmt.Errorf("load runs: %w", err)
		}
	}
	return nil
}
