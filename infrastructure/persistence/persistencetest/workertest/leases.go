package workertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// requireCode: the error has that kind and code.
func requireCode(t *testing.T, err error, kind apperror.Kind, code string) {
	t.Helper()
	var known *apperror.Error
	require.ErrorAs(t, err, &known)
	require.Equal(t, kind, known.Kind)
	require.Equal(t, code, known.Code)
}

func read(t *testing.T, s *persistence.Store, id string) worker.Worker {
	t.Helper()
	w, err := s.Worker(t.Context(), id)
	require.NoError(t, err)
	return w
}

func beatOf(w worker.Worker) repository.WorkerBeat {
	return repository.WorkerBeat{ID: w.ID, Epoch: w.Epoch, Beat: 7 * time.Second, Lease: 26 * time.Second}
}

// longAgo puts the latest beat of a worker into the past.
func longAgo(t *testing.T, s *persistence.Store, w worker.Worker, by time.Duration) worker.Worker {
	t.Helper()
	out, err := s.RegisterWorker(t.Context(), w.ID, w.Group, func(former *worker.Worker, now time.Time) (
		worker.Worker, error,
	) {
		w.LastBeat, w.BeginTime = now.Add(-by), now.Add(-by)
		return w, nil
	})
	require.NoError(t, err)
	return out
}

// Beats runs the suite over stores that open gives: only the life that the row names renews its lease.
func Beats(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 10)
	a, b, c, d := longAgo(t, s, life("a", 1), time.Hour), longAgo(t, s, life("b", 2), time.Hour),
		longAgo(t, s, life("c", 1), time.Hour), longAgo(t, s, life("d", 1), time.Hour)
	left, err := s.LeaveWorker(t.Context(), c.ID, 1)
	require.NoError(t, err)
	require.True(t, left)
	beats := []repository.WorkerBeat{
		beatOf(a),
		{ID: b.ID, Epoch: 1, Beat: beat, Lease: lease},
		beatOf(c),
		{ID: d.ID, Epoch: 1, Beat: beat, Lease: lease, Stopping: true, Running: entity.Slots{3, 1}},
		{ID: "@shop.nobody", Epoch: 1, Beat: beat, Lease: lease},
	}
	refused, err := s.BeatWorkers(t.Context(), "node-2", beats)
	require.NoError(t, err)
	slices.Sort(refused)
	want := []string{b.ID, c.ID, "@shop.nobody"}
	slices.Sort(want)
	require.Equal(t, want, refused)

	now, err := s.StoreTime(t.Context())
	require.NoError(t, err)
	got := read(t, s, a.ID)
	require.WithinDuration(t, now, got.LastBeat, time.Minute)
	require.Equal(t, []any{7 * time.Second, 26 * time.Second, "node-2", worker.Up},
		[]any{got.Beat, got.Lease, got.Gateway, got.Status})
	shorter := beatOf(a)
	shorter.Lease = lease
	none, err := s.BeatWorkers(t.Context(), "node-2", []repository.WorkerBeat{shorter})
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, 26*time.Second, read(t, s, a.ID).Lease, "the worker may count on the longer one")
	require.Equal(t, b.LastBeat, read(t, s, b.ID).LastBeat, "a former life renews nothing")
	require.Equal(t, c.LastBeat, read(t, s, c.ID).LastBeat)
	require.Equal(t, worker.Down, read(t, s, c.ID).Status)
	stopping := read(t, s, d.ID)
	require.Equal(t, worker.Draining, stopping.Status)
	require.Equal(t, entity.Slots{3, 1}, stopping.Running)

	alive, draining, err := s.WorkersAlive(t.Context())
	require.NoError(t, err)
	require.Equal(t, []any{3, []string{d.ID}}, []any{alive, draining})

	none, err = s.BeatWorkers(t.Context(), "node-2", nil)
	require.NoError(t, err)
	require.Empty(t, none)
	none, err = s.BeatWorkers(t.Context(), "node-2", beats[:1])
	require.NoError(t, err)
	require.Empty(t, none)
}

// Ends runs the suite: a worker that is late, leaves, or is declared DOWN, and what it owes.
func Ends(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 10)
	fresh, late := register(t, s, life("fresh", 1)), longAgo(t, s, life("late", 3), time.Hour)
	owing := life("owing", 2)
	owing.Former = worker.Former{Epoch: 1, Until: storetest.Noon}
	owing = register(t, s, owing)
	ids := func() (out []string) {
		t.Helper()
		workers, now, err := s.LateWorkers(t.Context(), lease)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), now, time.Minute)
		for _, w := range workers {
			out = append(out, w.ID)
		}
		return out
	}
	require.ElementsMatch(t, []string{late.ID, owing.ID}, ids())

	for _, other := range []worker.Worker{ // the row has changed since the look
		{ID: late.ID, Epoch: 2, LastBeat: late.LastBeat},
		{ID: late.ID, Epoch: 3, LastBeat: late.LastBeat.Add(-1e6)},
		{ID: "@shop.nobody", Epoch: 3, LastBeat: late.LastBeat},
	} {
		down, err := s.DownWorker(t.Context(), other)
		require.NoError(t, err)
		require.False(t, down)
	}
	require.Equal(t, worker.Up, read(t, s, late.ID).Status)
	down, err := s.DownWorker(t.Context(), late)
	require.NoError(t, err)
	require.True(t, down)
	got := read(t, s, late.ID)
	require.Equal(t, worker.Down, got.Status)
	require.EqualValues(t, 3, got.Former.Epoch)
	require.WithinDuration(t, time.Now(), got.Former.Until, time.Minute)

	require.NoError(t, s.ClearFormer(t.Context(), worker.Worker{ID: late.ID, Former: worker.Former{
		Epoch: 3, Until: got.Former.Until.Add(-time.Millisecond),
	}}))
	require.NotZero(t, read(t, s, late.ID).Former, "the row says something else by now")
	require.NoError(t, s.ClearFormer(t.Context(), got))
	require.Zero(t, read(t, s, late.ID).Former)

	left, err := s.LeaveWorker(t.Context(), fresh.ID, 2)
	require.NoError(t, err)
	require.False(t, left)
	left, err = s.LeaveWorker(t.Context(), fresh.ID, 1)
	require.NoError(t, err)
	require.True(t, left)
	require.EqualValues(t, 1, read(t, s, fresh.ID).Former.Epoch)

	// A life that ends while that before it may still be at work does not cut the lease of that one short.
	far := time.Now().UTC().Add(time.Hour).Truncate(time.Millisecond)
	young := life("young", 2)
	young.Former = worker.Former{Epoch: 1, Until: far}
	young = register(t, s, young)
	left, err = s.LeaveWorker(t.Context(), young.ID, 2)
	require.NoError(t, err)
	require.True(t, left)
	require.Equal(t, worker.Former{Epoch: 2, Until: far}, read(t, s, young.ID).Former)
}

// Draining runs the suite: an operator keeps new runs away from a worker.
func Draining(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 10)
	w := register(t, s, life("a", 1))
	for _, draining := range []bool{true, true, false, false, true} {
		require.NoError(t, s.DrainWorker(t.Context(), w.ID, draining))
		require.Equal(t, draining, read(t, s, w.ID).Status == worker.Draining)
		refused, err := s.BeatWorkers(t.Context(), "node-1", []repository.WorkerBeat{beatOf(w)})
		require.NoError(t, err)
		require.Empty(t, refused)
		require.Equal(t, draining, read(t, s, w.ID).Status == worker.Draining, "a beat changes nothing about it")
	}
	_, err := s.LeaveWorker(t.Context(), w.ID, 1)
	require.NoError(t, err)
	requireCode(t, s.DrainWorker(t.Context(), w.ID, true), apperror.KindConflict, "worker_down")
	requireCode(t, s.DrainWorker(t.Context(), w.ID, false), apperror.KindConflict, "worker_down")
}

// Forgetting runs the suite: a row goes when nobody needs it, and a list of handlers when no worker offers it.
func Forgetting(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 20)
	gone := func(instance string, handlers ...string) worker.Worker {
		w := life(instance, 1)
		w.Handlers = handlers
		w = register(t, s, w)
		_, err := s.LeaveWorker(t.Context(), w.ID, 1)
		require.NoError(t, err)
		return read(t, s, w.ID)
	}
	cleared := func(w worker.Worker) worker.Worker {
		require.NoError(t, s.ClearFormer(t.Context(), w))
		return w
	}
	up := register(t, s, life("up", 1))
	owing := gone("owing")
	holds, awaited, free := cleared(gone("holds")), cleared(gone("awaited")), cleared(gone("free", "nobody else has it"))
	running := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), holds.ID, 1)
	waiting := storetest.RunOf(storetest.JobID(2), storetest.Noon)
	waiting.Claim = entity.NodeQueue(awaited.ID, entity.SlotGeneral).Key(5, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)},
		running, waiting)
	forget := func(before time.Time, want int) {
		t.Helper()
		n, err := s.ForgetWorkers(t.Context(), before)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	forget(time.Now().Add(-time.Hour), 0)
	forget(time.Now().Add(time.Hour), 1)
	_, err := s.Worker(t.Context(), free.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	for _, kept := range []worker.Worker{up, owing, holds, awaited} {
		require.Equal(t, kept.Handlers, read(t, s, kept.ID).Handlers)
	}
	var lists int64
	require.NoError(t, s.Pool.GORM(t.Context(), "test").Table("scheduler_worker_handlers").Count(&lists).Error)
	require.EqualValues(t, 2, lists, "that of the one that is up, and the empty one")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Executions.Finish(ctx, []repository.Finish{storetest.FinishOf(running)}, time.Now())
		return err
	})
	forget(time.Now().Add(time.Hour), 1)
}

// Groups runs the suite: what people define.
func Groups(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	r := s.WorkerGroups
	made := putGroup(t, s, group, 7)
	require.Equal(t, 1, made.Version)
	got, err := r.WorkerGroup(t.Context(), group)
	require.NoError(t, err)
	require.Equal(t, made, got)
	require.True(t, got.Serves("结算"))
	require.False(t, got.Serves("other"))
	_, err = r.PutWorkerGroup(t.Context(), worker.Group{Name: group}, nil)
	requireCode(t, err, apperror.KindConflict, "worker_group_exists")

	next := made
	next.JobGroups, next.Secrets, next.Commands, next.Declare, next.MaxWorkers = nil, false, true, true, 9
	changed, err := r.PutWorkerGroup(t.Context(), next, nil)
	require.NoError(t, err)
	require.Equal(t, []any{2, []string{}, false, true, true, 9, made.CreateTime}, []any{
		changed.Version, changed.JobGroups, changed.Secrets, changed.Commands, changed.Declare, changed.MaxWorkers,
		changed.CreateTime,
	})
	_, err = r.PutWorkerGroup(t.Context(), next, nil)
	requireCode(t, err, apperror.KindConflict, "stale_version")
	_, err = r.PutWorkerGroup(t.Context(), worker.Group{Name: "nobody", Version: 3}, nil)
	require.True(t, apperror.Is(err, apperror.KindNotFound))

	putGroup(t, s, "bank", 1)
	all, err := r.WorkerGroups(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "bank", all[0].Name)

	jobs := make([]*entity.Job, 4)
	for i := range jobs {
		jobs[i] = storetest.PlannedJob(i+1, storetest.Noon)
		jobs[i].Routing.Workers = group
	}
	jobs[1].Routing = entity.Routing{Strategy: entity.RouteAny, Labels: map[string]string{"workers": group}}
	jobs[2].Routing.Workers = "shop.eu"
	storetest.Add(t, s, jobs)
	stranded(t, s, changed, jobs)

	w := register(t, s, life("a", 1))
	requireCode(t, r.DropWorkerGroup(t.Context(), group, nil), apperror.KindConflict, "worker_group_in_use")
	_, err = s.LeaveWorker(t.Context(), w.ID, 1)
	require.NoError(t, err)
	require.NoError(t, r.AddWorkerToken(t.Context(), tokenOf("1", time.Now().Add(time.Hour)), 3))
	require.NoError(t, r.DropWorkerGroup(t.Context(), group, nil))
	for _, name := range []string{group, "", "ä", "no such"} {
		_, err = r.WorkerGroup(t.Context(), name)
		require.True(t, apperror.Is(err, apperror.KindNotFound), "%q", name)
		require.True(t, apperror.Is(r.DropWorkerGroup(t.Context(), name, nil), apperror.KindNotFound), "%q", name)
	}
	tokens, err := r.WorkerTokens(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, tokens, "they go with their group")
}

func tokenOf(id string, until time.Time) worker.Token {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return worker.Token{
		ID: id, Group: group, Name: "ci " + id, Hash: "hash-" + id, CreatedBy: "ann",
		ExpiresAt: until.UTC().Truncate(time.Millisecond), CreateTime: now,
	}
}

// Tokens runs the suite: a token is of its group, until it ends or is revoked.
func Tokens(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	r := s.WorkerGroups
	now := time.Now()
	err := r.AddWorkerToken(t.Context(), tokenOf("0", now.Add(time.Hour)), 2)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "%v", err)
	putGroup(t, s, group, 1)
	one, over := tokenOf("1", now.Add(time.Hour)), tokenOf("2", now.Add(-time.Hour))
	for _, token := range []worker.Token{one, over, tokenOf("3", now.Add(time.Hour))} {
		require.NoError(t, r.AddWorkerToken(t.Context(), token, 2))
	}
	requireCode(t, r.AddWorkerToken(t.Context(), tokenOf("4", now.Add(time.Hour)), 2), apperror.KindConflict,
		"too_many_tokens")
	got, err := r.WorkerTokenByHash(t.Context(), "hash-1", now)
	require.NoError(t, err)
	require.Equal(t, one, got)
	for _, hash := range []string{"hash-2", "hash-4", "", "ä"} {
		_, err := r.WorkerTokenByHash(t.Context(), hash, now)
		require.True(t, apperror.Is(err, apperror.KindNotFound), "%q", hash)
	}
	at := now.UTC().Truncate(time.Millisecond)
	require.NoError(t, r.UseWorkerToken(t.Context(), "1", at))
	all, err := r.WorkerTokens(t.Context(), group)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, at, all[0].LastUsedAt)
	require.Equal(t, over, all[1])
	for _, of := range [][2]string{{"bank", "1"}, {group, "9"}, {group, ""}, {"ä", "1"}} {
		_, err := r.DropWorkerToken(t.Context(), of[0], of[1])
		require.True(t, apperror.Is(err, apperror.KindNotFound), "%q", of)
	}
	dropped, err := r.DropWorkerToken(t.Context(), group, "1")
	require.NoError(t, err)
	require.Equal(t, "ci 1", dropped.Name)
	_, err = r.WorkerTokenByHash(t.Context(), "hash-1", now)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}
