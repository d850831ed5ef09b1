// Package transactiontest is the contract of transactions: what they show, and what
// they leave.
package transactiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Transactions runs the suite over stores that open gives.
func Transactions(t *testing.T, open storetest.Opener) {
	t.Run("an error undoes everything and comes back as it is", func(t *testing.T) { rollback(t, open(t, nil)) })
	t.Run("a panic undoes everything", func(t *testing.T) { panicking(t, open(t, nil)) })
	t.Run("readers see committed rows only", func(t *testing.T) { isolation(t, open(t, nil)) })
	t.Run("an ended context stops a transaction", func(t *testing.T) { endedContext(t, open(t, nil)) })
	t.Run("fires on overlapping jobs at once", func(t *testing.T) { overlappingFires(t, open(t, nil)) })
	t.Run("statements and transactions are observed by name", func(t *testing.T) { observed(t, open) })
}

func rollback(t *testing.T, s *persistence.Store) {
	wanted := errors.New("no")
	e := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	err := s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		require.NoError(t, tx.Executions.Insert(ctx, []*entity.Execution{e}))
		require.NoError(t, tx.Jobs.Insert(ctx, storetest.PlannedJob(1, storetest.Noon)))
		return wanted
	})
	require.Equal(t, wanted, err)
	_, err = s.Executions.Get(t.Context(), e.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	storetest.Add(t, s, []*entity.Job{storetest.PlannedJob(1, storetest.Noon)}, e)
}

func panicking(t *testing.T, s *persistence.Store) {
	require.Panics(t, func() {
		_ = s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			_ = tx.Executions.Insert(ctx, []*entity.Execution{storetest.RunOf(storetest.JobID(1), storetest.Noon)})
			panic("boom")
		})
	})
	storetest.Add(t, s, nil,
		storetest.RunOf(storetest.JobID(1), storetest.Noon)) // the store works on, and the row was undone
}

func isolation(t *testing.T, s *persistence.Store) {
	e := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{e}); err != nil {
			return err
		}
		_, err := s.Executions.Get(ctx, e.ID)
		require.True(t, apperror.Is(err, apperror.KindNotFound))
		rows, err := tx.Executions.Lock(ctx, []string{e.ID})
		require.Len(t, rows, 1, "the transaction sees its own")
		return err
	})
	storetest.Get(t, s, e.ID)
}

func endedContext(t *testing.T, s *persistence.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	e := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	err := s.Write(ctx, repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{e}); err != nil {
			return err
		}
		cancel()
		_, err := tx.Executions.Lock(ctx, []string{e.ID})
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Write(ctx, repository.LaneAPI, "test", func(context.Context, repository.Tx) error {
		return nil
	}), context.Canceled)
	_, err = s.Executions.Get(t.Context(), e.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// overlappingFires lets several nodes fire the same jobs at once, in different
// orders, as they do while their views of the partitions differ. The lock on
// the job and its cursor let one of them through for each fire.
func overlappingFires(t *testing.T, s *persistence.Store) {
	const jobs, nodes, rounds = 60, 4, 5
	var all []*entity.Job
	var idsOf []string
	for n := range jobs {
		all = append(all, storetest.PlannedJob(n, storetest.Noon))
		idsOf = append(idsOf, storetest.JobID(n))
	}
	storetest.Add(t, s, all)
	errs := make([]error, nodes)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			mine := slices.Clone(idsOf)
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			for round := range rounds {
				at := storetest.Noon.Add(time.Duration(round) * time.Second)
				for _, part := range [][]string{mine[i : i+40], mine[10:50], mine} {
					if errs[i] = fire(t.Context(), s, part, at, fmt.Sprintf("n%d", i)); errs[i] != nil {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, id := range idsOf {
		rows, _, err := s.Executions.List(t.Context(), repository.ExecutionFilter{JobID: id}, repository.Page{Limit: 100})
		require.NoError(t, err)
		require.Len(t, rows, rounds, "one row for each fire of %s", id)
	}
}

// fire is the fire transaction in small: lock, check, insert, advance.
func fire(ctx context.Context, s *persistence.Store, jobs []string, at time.Time, node string) error {
	return s.Write(ctx, repository.LaneFire, "fire", func(ctx context.Context, tx repository.Tx) error {
		heads, err := tx.Jobs.Lock(ctx, jobs)
		if err != nil {
			return err
		}
		var rows []*entity.Execution
		var moves []repository.JobAdvance
		for _, h := range heads {
			if !h.NextFireTime.Equal(at) {
				continue // somebody else fired it
			}
			next := at.Add(time.Second)
			rows = append(rows, storetest.StartedOn(storetest.RunOf(h.ID, at), node, 1))
			moves = append(moves, repository.JobAdvance{
				ID: h.ID, NextFireTime: next, DueTime: next, LastFireTime: at,
				Status: h.Status,
			})
		}
		if err := tx.Executions.Insert(ctx, rows); err != nil {
			return err
		}
		return tx.Jobs.Advance(ctx, moves)
	})
}

func observed(t *testing.T, open storetest.Opener) {
	var mu sync.Mutex
	seen := make(map[string]int)
	s := open(t, func(cfg *persistence.Config) {
		cfg.Observe = func(name string, d time.Duration, err error) {
			mu.Lock()
			defer mu.Unlock()
			if d >= 0 && err == nil {
				seen[name]++
			}
		}
	})
	storetest.Add(t, s, []*entity.Job{storetest.PlannedJob(1, storetest.Noon)})
	require.NoError(t, fire(t.Context(), s, []string{storetest.JobID(1)}, storetest.Noon, "n1"))
	_, err := s.Jobs.Get(t.Context(), storetest.JobID(1))
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	for _, name := range []string{"job.lock", "execution.insert", "job.advance", "tx.fire", "job.insert", "job.get"} {
		require.Positive(t, seen[name], name)
	}
}
