package gateway_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

const group = "shop"

// rig is one node with a gateway, and workers of one group.
type rig struct {
	t *testing.T
	*enginetest.Node
	gateway *gateway.Gateway
	workers *workersOf
	secrets *secrets
	hold    atomic.Int64
	// looks counts looks for runs that wait, heads the runs that were read then.
	looks, heads atomic.Int64
}

// counted counts questions of where runs wait.
type counted struct {
	gateway.Claims
	looks, heads *atomic.Int64
}

func (c counted) Range(ctx context.Context, r repository.ClaimRange) ([]*entity.Execution, error) {
	execs, err := c.Claims.Range(ctx, r)
	c.heads.Add(int64(len(execs)))
	return execs, err
}

func (c counted) First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	c.looks.Add(1)
	return c.Claims.First(ctx, lo, hi)
}

// secrets opens one secret, and keeps which attempts have opened it.
type secrets struct {
	mu     sync.Mutex
	opened map[string]bool
}

func (s *secrets) Open(_ context.Context, _ string, _ []string) (map[string]string, error) {
	return map[string]string{"pin": "1234567"}, nil
}

func (s *secrets) Issue(_ context.Context, run entity.Run) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened[run.Execution.ID] = true
	return "", nil
}

func (s *secrets) Hidings(_ context.Context, execs []*entity.Execution) (map[string]redact.Hiding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]redact.Hiding{}
	for _, e := range execs {
		if s.opened[e.ID] {
			out[e.ID] = redact.Hide([]string{"1234567"})
		}
	}
	return out, nil
}

// workersOf are the rows of workers, which a test may take away.
type workersOf struct {
	gateway.Workers
	away atomic.Bool
}

func (w *workersOf) WorkersByID(ctx context.Context, ids []string) ([]worker.Worker, error) {
	if w.away.Load() {
		return nil, errors.New("the store is away")
	}
	return w.Workers.WorkersByID(ctx, ids)
}

func (w *workersOf) BeatWorkers(ctx context.Context, node string, beats []repository.WorkerBeat) ([]string, error) {
	if w.away.Load() {
		return nil, errors.New("the store is away")
	}
	return w.Workers.BeatWorkers(ctx, node, beats)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, Node: enginetest.New(t, enginetest.Options{}), secrets: &secrets{opened: map[string]bool{}}}
	_, err := r.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
		Name: group, JobGroups: []string{"default"}, MaxWorkers: 100,
	}, nil)
	require.NoError(t, err)
	r.workers = &workersOf{Workers: r.Store}
	r.gateway = r.newGateway(r.Node)
	r.Commits.OnCommit(r.gateway.AfterCommit)
	r.Start(t)
	r.run(r.gateway)
	return r
}

func (r *rig) newGateway(n *enginetest.Node) *gateway.Gateway {
	return gateway.New(gateway.Deps{
		NodeID: n.ID(), Store: n.Faults, Claims: counted{n.Store, &r.looks, &r.heads}, Executions: n.Store.Executions,
		Jobs: n.Jobs, Workers: r.workers,
		Groups: r.Store.WorkerGroups, Logs: r.Store.Records, Ends: n.Runner.Ends, Lease: n.Lease, Clock: n.Clock,
		StoreClock: n.Time, Elapsed: n.Clock.Monotonic, LogLimit: 1 << 20, Logger: slog.New(slog.DiscardHandler),
		Secrets: r.secrets, Tokens: r.secrets, Sealed: r.secrets, Random: func() float64 { return 0.5 },
		Watch:     func(string, time.Duration) func(error) { return func(error) {} },
		HoldUntil: func() time.Duration { return time.Duration(r.hold.Load()) },
		Expand: func(run entity.Run) (string, *entity.Outcome) {
			if !run.Deadline.IsZero() {
				return run.Job.Data + run.Deadline.Sub(n.Time.Now()).String(), nil
			}
			return run.Job.Data + run.Secrets["pin"], nil
		},
	})
}

func (r *rig) run(g *gateway.Gateway) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Run(ctx)
	}()
	r.t.Cleanup(func() {
		stop()
		<-done
	})
}

// pass is Pass for the rig.
func (r *rig) pass(happened func() bool, what string) {
	r.t.Helper()
	r.Pass(r.t, happened, what)
}

// remote is a program that runs jobs, as its calls look.
type remote struct {
	*rig
	id         string
	epoch, seq int64
	ack        int64
	free       entity.Slots
	running    []delivery.Attempt
	// breaks breaks the newest call off.
	breaks context.CancelFunc
}

func (r *rig) register(instance string, epoch int64, handlers ...string) *remote {
	r.t.Helper()
	w := worker.Worker{
		ID: worker.ID(group, instance), Group: group, Instance: instance, Boot: "boot", Epoch: epoch, Status: worker.Up,
		Slots: entity.Slots{8, 2}, Handlers: handlers, Beat: 5 * time.Second, Lease: 20 * time.Second,
		Labels: map[string]string{"zone": "a"},
	}
	_, err := r.Store.RegisterWorker(r.t.Context(), w.ID, group, func(_ *worker.Worker, now time.Time) (
		worker.Worker, error,
	) {
		w.LastBeat, w.BeginTime = now, now
		return w, nil
	})
	require.NoError(r.t, err)
	return &remote{rig: r, id: w.ID, epoch: epoch, free: entity.Slots{8, 2}}
}

// answered is what a poll got.
type answered struct {
	gateway.Answer
	err error
}

// poll sends the next poll and returns where its answer will be.
func (w *remote) poll() chan answered {
	w.seq++
	return w.again()
}

// again sends the newest poll.
func (w *remote) again() chan answered {
	call := gateway.Call{
		WorkerID: w.id, Wait: 5 * time.Second, Most: 1000, Size: func(d gateway.Delivery) int { return len(d.Data) },
		Poll: delivery.Poll{Epoch: w.epoch, Seq: w.seq, Ack: w.ack, Free: w.free, Running: w.running},
	}
	got := make(chan answered, 1)
	ctx, breaks := context.WithCancel(context.Background())
	w.breaks = breaks
	w.t.Cleanup(breaks)
	go func() {
		a, err := w.gateway.Poll(ctx, call)
		got <- answered{a, err}
	}()
	return got
}

// await returns the answer, while time goes on.
func (w *remote) await(got chan answered) answered {
	w.t.Helper()
	w.pass(func() bool { return len(got) > 0 }, "the poll is answered")
	return <-got
}

// take is an answer that the worker takes: it holds the runs from now on.
func (w *remote) take(got chan answered) []gateway.Delivery {
	w.t.Helper()
	a := w.await(got)
	require.NoError(w.t, a.err)
	w.ack = a.Seq
	for _, d := range a.Deliveries {
		w.running = append(w.running, delivery.Attempt{Execution: d.Run.Execution.ID, Token: d.Run.Execution.Token})
		w.free[entity.SlotGeneral]--
	}
	return a.Deliveries
}

// report sends the end of a run and returns its receipt.
func (w *remote) report(d gateway.Delivery, o entity.Outcome, lines ...string) gateway.Receipt {
	w.t.Helper()
	got := make(chan gateway.Receipt, 1)
	go func() {
		receipts, err := w.gateway.Report(context.Background(), w.id, w.epoch, []gateway.Item{{
			Attempt: delivery.Attempt{Execution: d.Run.Execution.ID, Token: d.Run.Execution.Token}, Progress: -1,
			Number: d.Run.Execution.Attempt, LineFrom: 1, Lines: lines, End: &gateway.End{Outcome: o, Took: time.Second},
		}})
		if err != nil || len(receipts) != 1 {
			w.t.Errorf("report: %v, %v", receipts, err)
			receipts = []gateway.Receipt{{}}
		}
		got <- receipts[0]
	}()
	w.pass(func() bool { return len(got) > 0 }, "the report gets a receipt")
	return <-got
}

// remoteJob is a job that the workers of the group run.
func (r *rig) remoteJob(name, handler string, change func(j *entity.Job)) *entity.Job {
	return r.Add(r.t, enginetest.Job(name, func(j *entity.Job) {
		j.Type, j.Class, j.Routing.Workers = entity.JobCustom, handler, group
		if change != nil {
			change(j)
		}
	}))
}
