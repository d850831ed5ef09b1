package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/workers"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

const (
	group     = "shop"
	lease     = 20 * time.Second
	nodeLease = 10 * time.Second
)

// reaped are calls of the reaper. It says that the holder still has as many runs as held says.
type reaped struct {
	calls []repository.Holder
	held  int
}

func (r *reaped) Reap(_ context.Context, id string, epoch int64) (int, error) {
	r.calls = append(r.calls, repository.Holder{NodeID: id, Epoch: epoch})
	return r.held, nil
}

// faulty is the store, with what happens before a look.
type faulty struct {
	*persistence.Store
	looks  int
	before func() error
}

func (f *faulty) LateWorkers(ctx context.Context, shortest time.Duration) ([]worker.Worker, time.Time, error) {
	f.looks++
	late, now, err := f.Store.LateWorkers(ctx, shortest)
	if f.before != nil {
		err = errors.Join(err, f.before())
	}
	return late, now, err
}

type rig struct {
	t      *testing.T
	clock  *clocktest.Manual
	store  *faulty
	reaper *reaped
	watch  *workers.Watch
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, clock: clocktest.NewManual(storetest.Noon), reaper: &reaped{}}
	cfg := dbtest.SQLite(t)
	cfg.Clock = r.clock
	r.store = &faulty{Store: dbtest.Open(t, cfg)}
	r.lead()
	_, err := r.store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{Name: group, MaxWorkers: 10}, nil)
	require.NoError(t, err)
	return r
}

// lead makes this node the leader anew.
func (r *rig) lead() {
	r.watch = workers.New(workers.Deps{
		Store: r.store, Reaper: r.reaper, Shortest: lease, Longest: 65 * time.Second, Lease: nodeLease,
		Elapsed: r.clock.Monotonic, Logger: slog.New(slog.DiscardHandler),
	})
}

func (r *rig) register(instance string, epoch int64, former worker.Former) worker.Worker {
	r.t.Helper()
	w := worker.Worker{
		ID: worker.ID(group, instance), Group: group, Instance: instance, Epoch: epoch, Status: worker.Up, Former: former,
		Beat: 5 * time.Second, Lease: lease,
	}
	out, err := r.store.RegisterWorker(r.t.Context(), w.ID, group, func(_ *worker.Worker, now time.Time) (
		worker.Worker, error,
	) {
		w.LastBeat, w.BeginTime = now, now
		return w, nil
	})
	require.NoError(r.t, err)
	return out
}

func (r *rig) beat(w worker.Worker) {
	r.t.Helper()
	_, err := r.store.BeatWorkers(r.t.Context(), "node-1", []repository.WorkerBeat{
		{ID: w.ID, Epoch: w.Epoch, Beat: w.Beat, Lease: w.Lease},
	})
	require.NoError(r.t, err)
}

// pass lets time go by in turns of the task; alive beat meanwhile.
func (r *rig) pass(d time.Duration, alive ...worker.Worker) {
	r.t.Helper()
	for ; d > 0; d -= workers.Interval {
		r.clock.Advance(workers.Interval)
		for _, w := range alive {
			r.beat(w)
		}
		require.NoError(r.t, r.watch.RunOnce(r.t.Context()))
	}
}

func (r *rig) status(w worker.Worker) worker.Status {
	r.t.Helper()
	got, err := r.store.Worker(r.t.Context(), w.ID)
	require.NoError(r.t, err)
	return got.Status
}

// A worker whose lease was over at two looks is DOWN, no sooner, and its runs are ended within a second and a half.
func TestAWorkerIsDownWhenItsLeaseWasOverTwice(t *testing.T) {
	r := newRig(t)
	gone, there := r.register("gone", 3, worker.Former{}), r.register("there", 1, worker.Former{})
	r.pass(time.Minute, gone, there)
	r.pass(lease, there)
	require.Equal(t, worker.Up, r.status(gone), "its lease ends now")
	r.pass(workers.Interval, there)
	require.Equal(t, worker.Up, r.status(gone), "its lease was over once")
	r.pass(workers.Interval, there)
	require.Equal(t, worker.Down, r.status(gone))
	require.Empty(t, r.reaper.calls)
	r.pass(workers.Interval, there)
	require.Equal(t, []repository.Holder{{NodeID: gone.ID, Epoch: 3}}, r.reaper.calls)
	require.Equal(t, worker.Up, r.status(there))
}

// A beat between two looks saves the worker.
func TestABeatBetweenTwoLooksSavesAWorker(t *testing.T) {
	r := newRig(t)
	w := r.register("slow", 1, worker.Former{})
	r.pass(time.Minute, w)
	r.pass(lease + workers.Interval)
	r.beat(w)
	r.pass(lease)
	require.Equal(t, worker.Up, r.status(w))
}

// After an outage nobody is declared DOWN until nodes without the store cannot have told any worker to go on.
func TestAfterAnOutageWorkersHaveTimeToBeHeardOf(t *testing.T) {
	r := newRig(t)
	w := r.register("patient", 1, worker.Former{})
	r.pass(time.Minute, w)
	r.store.before = func() error { return errors.New("the store is away") }
	looks := r.store.looks
	for range 240 {
		r.clock.Advance(workers.Interval)
		before := r.store.looks
		err := r.watch.RunOnce(r.t.Context())
		require.Equal(t, r.store.looks > before, err != nil)
	}
	require.Greater(t, r.store.looks-looks, 235, "a look that failed is made again in the next turn")
	r.store.before = nil
	r.pass(lease + nodeLease)
	require.Equal(t, worker.Up, r.status(w))
	r.pass(3 * workers.Interval)
	require.Equal(t, worker.Down, r.status(w))
}

// The same holds for a new leader, and for one that stood still.
func TestWhoHasNotLookedForLongDeclaresNobodyDown(t *testing.T) {
	for name, miss := range map[string]func(r *rig){
		"a new leader":   (*rig).lead,
		"one that slept": func(r *rig) { r.clock.Advance(4 * time.Second) },
		"one look that failed": func(r *rig) {
			r.store.before = func() error { return errors.New("the store is away") }
			require.Error(r.t, r.watch.RunOnce(r.t.Context()))
			r.store.before = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w := r.register("late", 1, worker.Former{})
			r.pass(time.Minute, w)
			r.pass(lease)
			miss(r)
			r.pass(lease + nodeLease)
			require.Equal(t, worker.Up, r.status(w))
			r.pass(3 * workers.Interval)
			require.Equal(t, worker.Down, r.status(w))
		})
	}
}

// A node that becomes the leader has reached the store before, as its beats show: it goes on where the other one ended.
func TestANewLeaderGoesByItsBeats(t *testing.T) {
	for name, c := range map[string]struct {
		beaten time.Duration
		want   worker.Status
	}{
		"it has beaten for long enough": {lease + nodeLease, worker.Down},
		"its beats were broken off":     {lease + nodeLease - time.Second, worker.Up},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w, twice := r.register("late", 1, worker.Former{}), r.register("twice", 5,
				worker.Former{Epoch: 4, Until: r.clock.Now().Add(lease)})
			r.pass(lease)
			r.lead()
			r.watch.Beaten = func() time.Duration { return c.beaten }
			r.pass(3*workers.Interval, twice)
			require.Equal(t, c.want, r.status(w))
			require.Equal(t, c.want == worker.Down, len(r.reaper.calls) > 0)
		})
	}
}

// Between the look and the deed nobody may stand still: the worker may be back.
func TestALookThatLastsDecidesNothing(t *testing.T) {
	r := newRig(t)
	w := r.register("late", 1, worker.Former{})
	r.pass(time.Minute, w)
	r.store.before = func() error { r.clock.Advance(1100 * time.Millisecond); return nil }
	r.pass(time.Minute)
	require.Equal(t, worker.Up, r.status(w))
	r.store.before = nil
	r.pass(2 * workers.Interval)
	require.Equal(t, worker.Down, r.status(w))
}

// The runs of a former life are over when its lease is, and not before; those of the present life go on.
func TestFormerRunsEndWithTheFormerLease(t *testing.T) {
	r := newRig(t)
	other := r.register("other", 1, worker.Former{})
	r.pass(time.Minute, other)
	until := r.clock.Now().Add(lease)
	w := r.register("twice", 5, worker.Former{Epoch: 4, Until: until})
	r.pass(lease, w, other)
	require.Empty(t, r.reaper.calls, "its lease ends now")
	r.reaper.held = 2
	r.pass(2*workers.Interval, w, other)
	want := repository.Holder{NodeID: w.ID, Epoch: 4}
	require.Equal(t, []repository.Holder{want, want}, r.reaper.calls, "as long as it holds any")
	r.pass(time.Minute, w, other)
	require.NotEmpty(t, former(r, w))
	r.reaper.held = 0
	r.pass(workers.Interval, w, other)
	require.Empty(t, former(r, w))
	n := len(r.reaper.calls)
	r.pass(time.Minute, w, other)
	require.Len(t, r.reaper.calls, n)
	require.Equal(t, worker.Up, r.status(w))
}

// A claim that was being committed when the worker left may be seen only later.
func TestRunsOfAWorkerThatLeftAreLookedForAWhile(t *testing.T) {
	r := newRig(t)
	w := r.register("leaving", 2, worker.Former{})
	r.pass(time.Minute, w)
	left, err := r.store.LeaveWorker(t.Context(), w.ID, 2)
	require.NoError(t, err)
	require.True(t, left)
	r.pass(5 * workers.Interval)
	require.NotEmpty(t, r.reaper.calls)
	r.pass(25 * time.Second)
	require.NotEmpty(t, former(r, w))
	r.pass(10 * time.Second)
	require.Empty(t, former(r, w))
}

func former(r *rig, w worker.Worker) any {
	got, err := r.store.Worker(r.t.Context(), w.ID)
	require.NoError(r.t, err)
	if got.Former == (worker.Former{}) {
		return nil
	}
	return got.Former
}

// Runs of a worker that no row tells of, as in a store that was restored, end after the longest lease.
func TestRunsOfAWorkerWithoutARowEnd(t *testing.T) {
	r := newRig(t)
	rowless, known := worker.ID(group, "rowless"), r.register("known", 1, worker.Former{})
	runs := []*entity.Execution{
		storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), rowless, 7),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), known.ID, 1),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(3), storetest.Noon), "node-1", 1),
	}
	storetest.Add(t, r.store.Store, []*entity.Job{
		storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon),
		storetest.PlannedJob(3, storetest.Noon),
	}, runs...)
	r.pass(75*time.Second, known)
	require.Empty(t, r.reaper.calls)
	r.pass(45*time.Second, known)
	require.NotEmpty(t, r.reaper.calls)
	for _, call := range r.reaper.calls {
		require.Equal(t, rowless, call.NodeID)
		require.Greater(t, call.Epoch, int64(7))
	}
}

// Where there are no workers the task costs a question in five seconds.
func TestWithoutWorkersTheStoreIsAskedRarely(t *testing.T) {
	r := newRig(t)
	r.pass(time.Minute)
	require.LessOrEqual(t, r.store.looks, 13)
	w := r.register("first", 1, worker.Former{})
	before := r.store.looks
	r.pass(time.Minute, w)
	require.InDelta(t, 40, r.store.looks-before, 5, "no lease can end for two seconds")
	before = r.store.looks
	r.pass(lease)
	require.Greater(t, r.store.looks-before, 14)
	before = r.store.looks
	r.pass(10 * time.Second)
	require.Equal(t, 20, r.store.looks-before, "the lease is over")
}

// Workers that call as seldom as leases allow are looked at in each turn, as before.
func TestWhatIsNearlyLateIsLookedAtInEachTurn(t *testing.T) {
	r := newRig(t)
	w := r.register("slow", 1, worker.Former{})
	r.pass(time.Minute, w)
	r.pass(lease - time.Second)
	before := r.store.looks
	r.pass(3 * workers.Interval)
	require.Equal(t, 3, r.store.looks-before)
	require.Equal(t, worker.Up, r.status(w))
	r.pass(workers.Interval)
	require.Equal(t, worker.Down, r.status(w))
}
