// Package workertest is the contract of workers, worker groups and their tokens.
package workertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const (
	group = "shop"
	beat  = 5 * time.Second
	lease = 20 * time.Second
)

// life is a worker of the group as it registers.
func life(instance string, epoch int64) worker.Worker {
	return worker.Worker{
		ID: worker.ID(group, instance), Group: group, Instance: instance, Boot: "boot-1", Epoch: epoch, Status: worker.Up,
		Slots:    entity.Slots{entity.SlotGeneral: 8, entity.SlotCommand: 2},
		Weight:   3,
		Labels:   map[string]string{"zone": "a", "名": "前"},
		Handlers: []string{"bill", "settle"}, SDK: "java 1.0.0", Runtime: "17.0.15", Version: "shop 3.2", Host: "10.0.0.7",
		PID: 1 << 40, Gateway: "node-1", Beat: beat, Lease: lease,
	}
}

// register writes the row as it is given, with the store's time as its beat.
func register(t *testing.T, s *persistence.Store, w worker.Worker) worker.Worker {
	t.Helper()
	out, err := s.RegisterWorker(t.Context(), w.ID, w.Group, func(former *worker.Worker, now time.Time) (
		worker.Worker, error,
	) {
		w.LastBeat, w.BeginTime = now, now
		return w, nil
	})
	require.NoError(t, err)
	return out
}

func putGroup(t *testing.T, s *persistence.Store, name string, most int) worker.Group {
	t.Helper()
	g, err := s.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
		Name: name, JobGroups: []string{"payments", "结算"}, Secrets: true, MaxWorkers: most,
	}, nil)
	require.NoError(t, err)
	return g
}

// Lives runs the suite over stores that open gives: what a registration stores, and who may register.
func Lives(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 2)
	t.Run("older programs are refused from the first group on", func(t *testing.T) {
		oldest, err := sqldb.Collect(t.Context(), s.Pool, "test", "SELECT min_version FROM scheduler_schema_compat", nil,
			sqlvalue.ScanInt)
		require.NoError(t, err)
		require.Equal(t, []int64{worker.Schema}, oldest)
	})
	t.Run("a row is read as it was written", func(t *testing.T) {
		want := register(t, s, life("a", 1))
		got, err := s.Worker(t.Context(), want.ID)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.False(t, got.LastBeat.IsZero())
		require.WithinDuration(t, got.LastBeat, got.CreateTime, 0)
	})
	t.Run("what the rule refuses changes nothing", func(t *testing.T) {
		before, err := s.Worker(t.Context(), worker.ID(group, "a"))
		require.NoError(t, err)
		refusal := errors.New("refused")
		_, err = s.RegisterWorker(t.Context(), before.ID, group, func(former *worker.Worker, now time.Time) (
			worker.Worker, error,
		) {
			require.Equal(t, before.Epoch, former.Epoch)
			require.Equal(t, "a", former.Instance)
			require.False(t, now.Before(former.LastBeat))
			return worker.Worker{}, refusal
		})
		require.ErrorIs(t, err, refusal)
		after, err := s.Worker(t.Context(), before.ID)
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
	t.Run("a new life takes the place of the former", func(t *testing.T) {
		next := life("a", 2)
		next.Boot, next.Handlers, next.Labels = "boot-2", nil, nil
		next.Former = worker.Former{Epoch: 1, Until: storetest.Noon}
		want := register(t, s, next)
		got, err := s.Worker(t.Context(), want.ID)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Empty(t, got.Handlers)
		require.Equal(t, worker.Former{Epoch: 1, Until: storetest.Noon}, got.Former)
	})
	t.Run("a group has no more workers than it may", func(t *testing.T) {
		register(t, s, life("b", 1))
		refused := func(instance, in string, code string) {
			t.Helper()
			w := life(instance, 1)
			_, err := s.RegisterWorker(t.Context(), w.ID, in, func(*worker.Worker, time.Time) (worker.Worker, error) {
				return w, nil
			})
			requireCode(t, err, apperror.KindConflict, code)
		}
		refused("c", group, "too_many_workers")
		refused("c", "nobody", "worker_group_gone")
		register(t, s, life("b", 2)) // who is there already may register again
		left, err := s.LeaveWorker(t.Context(), worker.ID(group, "b"), 2)
		require.NoError(t, err)
		require.True(t, left)
		register(t, s, life("c", 1))
		refused("b", group, "too_many_workers")
	})
	t.Run("an unknown worker", func(t *testing.T) {
		for _, id := range []string{"@shop.nobody", "", "ä", strings.Repeat("x", 100)} {
			_, err := s.Worker(t.Context(), id)
			require.True(t, apperror.Is(err, apperror.KindNotFound), "%q: %v", id, err)
			err = s.DrainWorker(t.Context(), id, true)
			require.True(t, apperror.Is(err, apperror.KindNotFound), "%q: %v", id, err)
		}
	})
}

// ManyAtOnce runs the suite: registrations at the same moment do not exceed the bound.
func ManyAtOnce(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	putGroup(t, s, group, 5)
	var taken sync.Map
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			w := life(fmt.Sprint("pod-", i), 1)
			_, err := s.RegisterWorker(t.Context(), w.ID, group, func(_ *worker.Worker, now time.Time) (
				worker.Worker, error,
			) {
				w.LastBeat, w.BeginTime = now, now
				return w, nil
			})
			if err == nil {
				taken.Store(w.ID, true)
			} else if !apperror.Is(err, apperror.KindConflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	workers, err := s.WorkersOf(t.Context(), group, 100)
	require.NoError(t, err)
	require.Len(t, workers, 5)
	for i, w := range workers {
		_, ok := taken.Load(w.ID)
		require.True(t, ok)
		require.Equal(t, []string{"bill", "settle"}, w.Handlers)
		require.True(t, i == 0 || workers[i-1].ID < w.ID)
	}
}

// Lists runs the suite: pages over groups and states.
func Lists(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	for _, name := range []string{group, "bank"} {
		putGroup(t, s, name, 10)
	}
	for i := range 3 {
		register(t, s, life(fmt.Sprint("pod-", i), 1))
	}
	other := life("x", 1)
	other.ID, other.Group = worker.ID("bank", "x"), "bank"
	register(t, s, other)
	_, err := s.LeaveWorker(t.Context(), other.ID, 1)
	require.NoError(t, err)
	count := func(group string, status worker.Status) (n int) {
		t.Helper()
		for cursor := ""; ; {
			page, next, err := s.ListWorkers(t.Context(), group, status, repository.Page{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), 2)
			n += len(page)
			if next == "" {
				return n
			}
			cursor = next
		}
	}
	require.Equal(t, 4, count("", ""))
	require.Equal(t, 3, count(group, ""))
	require.Equal(t, 3, count(group, worker.Up))
	require.Equal(t, 1, count("", worker.Down))
	require.Zero(t, count("nobody", ""))
	require.Zero(t, count("no such name ä", ""))
	some, err := s.WorkersOf(t.Context(), group, 2)
	require.NoError(t, err)
	require.Len(t, some, 2)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		g, err := tx.Workers.WorkerGroup(ctx, group)
		require.NoError(t, err)
		require.Equal(t, []string{"payments", "结算"}, g.JobGroups)
		_, err = tx.Workers.WorkerGroup(ctx, "nobody")
		require.True(t, apperror.Is(err, apperror.KindNotFound), "%v", err)
		same, err := tx.Workers.WorkersOf(ctx, group, 2)
		require.Equal(t, some, same, "in a transaction")
		return err
	})
	gone, err := s.WorkersOf(t.Context(), "bank", 2)
	require.NoError(t, err)
	require.Empty(t, gone)

	putGroup(t, s, "empty", 1)
	require.NoError(t, s.DrainWorker(t.Context(), worker.ID(group, "pod-0"), true))
	want := []repository.WorkerCount{
		{Group: "bank", JobGroups: []string{"payments", "结算"}, Down: 1},
		{Group: "empty", JobGroups: []string{"payments", "结算"}},
		{Group: group, JobGroups: []string{"payments", "结算"}, Up: 2, Draining: 1},
	}
	for name, counts := range map[string]repository.WorkerCounts{"workers": s, "groups": s.WorkerGroups} {
		counted, err := counts.CountWorkers(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, counted, name)
	}
}
