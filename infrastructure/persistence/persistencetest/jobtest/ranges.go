package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// decidedUntil moves two of the jobs 1, 2 and 4 behind a range, and then all without one.
func decidedUntil(t *testing.T, s *persistence.Store,
	move func(ctx context.Context, tx repository.Tx, to ...repository.JobAdvance) error,
) {
	t.Helper()
	decided := map[int]time.Time{1: storetest.Noon.Add(time.Hour), 4: storetest.Noon.Add(2 * time.Hour)}
	for _, ranges := range []bool{true, false} {
		next := storetest.Noon.Add(3 * time.Hour)
		to := func(n int) repository.JobAdvance {
			a := repository.JobAdvance{ID: storetest.JobID(n), NextFireTime: next, DueTime: next, Status: entity.JobEnabled}
			if ranges {
				a.DecidedUntil = decided[n]
			}
			return a
		}
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return move(ctx, tx, to(1), to(2), to(4)) })
		for _, n := range []int{1, 2, 4} {
			got, err := s.Jobs.Get(t.Context(), storetest.JobID(n))
			require.NoError(t, err)
			require.Equal(t, next, got.NextFireTime)
			require.Equal(t, decided[n], got.DecidedUntil, "a range is kept until the next one")
		}
	}
}

func moveBehindRanges(t *testing.T, s *persistence.Store) {
	for n := range 5 {
		storetest.Add(t, s, []*entity.Job{storetest.PlannedJob(n, storetest.Noon)})
	}
	from := storetest.Noon
	decidedUntil(t, s, func(ctx context.Context, tx repository.Tx, to ...repository.JobAdvance) error {
		moves := make([]repository.JobMove, len(to))
		for i := range to {
			moves[i] = repository.JobMove{JobAdvance: to[i], From: from, Version: 1}
		}
		from = to[0].NextFireTime
		moved, _, err := tx.Jobs.Move(ctx, moves)
		require.Len(t, moved, len(to))
		return err
	})
}
