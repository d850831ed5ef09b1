package alerttest

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

// deadlines are read by their moments; each is marked and taken once.
func deadlines(t *testing.T, s *persistence.Store) {
	at := func(sec int) time.Time { return storetest.Noon.Add(time.Duration(sec)*time.Second + time.Millisecond) }
	of := func(sec int) entity.Deadline {
		return entity.Deadline{
			Moment: at(sec), JobID: storetest.JobID(sec), FireKey: "k😀", ScheduledTime: at(sec - 100),
		}
	}
	write := func(fn func(ctx context.Context, tx repository.Tx) error) {
		t.Helper()
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "deadlines", fn))
	}
	for range 2 { // who adds them again changes nothing
		write(func(ctx context.Context, tx repository.Tx) error {
			return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{of(3), of(1), of(2)})
		})
	}
	read := func(after, until, limit int) []entity.Deadline {
		t.Helper()
		found, err := s.Deadlines(t.Context(), at(after), at(until), limit)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, []entity.Deadline{of(1), of(2), of(3)}, read(0, 3, 10))
	require.Equal(t, []entity.Deadline{of(2)}, read(1, 3, 1))
	require.Empty(t, read(3, 9, 10))
	for _, first := range []bool{true, false} {
		write(func(ctx context.Context, tx repository.Tx) error {
			marked, err := tx.Alerts.MarkDeadline(ctx, of(2))
			require.NoError(t, err)
			require.Equal(t, first, marked)
			taken, err := tx.Alerts.TakeDeadline(ctx, of(1))
			require.Equal(t, first, taken)
			return err
		})
	}
	told := of(2)
	told.Reported = true
	require.Equal(t, []entity.Deadline{told, of(3)}, read(0, 9, 10))

	// Unmarked deadlines are read one behind the other, also of one moment.
	first, second, last := of(3), of(3), of(3)
	first.FireKey, last.JobID = "a", storetest.JobID(9)
	write(func(ctx context.Context, tx repository.Tx) error {
		return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{last, first})
	})
	after := entity.Deadline{Moment: at(2)}
	for _, want := range []entity.Deadline{first, second, last} {
		found, err := s.UnreportedDeadlines(t.Context(), after, at(3), 1)
		require.NoError(t, err)
		require.Equal(t, []entity.Deadline{want}, found)
		after = want
	}
	found, err := s.UnreportedDeadlines(t.Context(), after, at(9), 1)
	require.NoError(t, err)
	require.Empty(t, found)
}
