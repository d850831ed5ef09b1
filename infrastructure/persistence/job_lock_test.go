package persistence_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Rule 8: whether the server can refuse to wait for a lock (MariaDB) or waits once
// (MySQL), what somebody else has locked is left out and named, and the rest moves.
func TestMovesLeaveOutWhatIsLocked(t *testing.T) {
	dbtest.NeedMySQL(t)
	for name, waits := range map[string]bool{"refuses to wait": false, "waits once": true} {
		t.Run(name, func(t *testing.T) {
			cfg := dbtest.Migrated(t)
			waited := map[string]int{} // statements that were refused because of a lock
			cfg.Observe = func(statement string, _ time.Duration, err error) {
				if strings.HasPrefix(statement, "job.") && err != nil {
					waited[statement]++
				}
			}
			s := dbtest.Open(t, cfg)
			if waits {
				s.Dialect.NoWait = ""
			}
			ids := []string{"job-1", "job-2", "job-3"}
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			write := func(fn func(ctx context.Context, tx repository.Tx) error) error {
				return s.Write(t.Context(), repository.LaneFire, "fire", fn)
			}
			require.NoError(t, write(func(ctx context.Context, tx repository.Tx) error {
				for _, id := range ids {
					err := tx.Jobs.Insert(ctx, &entity.Job{
						ID: id, Name: id, Group: "g", Version: 1, Status: entity.JobEnabled,
						NextFireTime: now, DueTime: now, CreateTime: now, UpdateTime: now,
					})
					if err != nil {
						return err
					}
				}
				return nil
			}))
			held, err := dbtest.Raw(t, cfg).BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = held.ExecContext(t.Context(), "UPDATE scheduler_job_definition SET owner = 'somebody' WHERE id = 'job-2'")
			require.NoError(t, err)
			var moves []repository.JobMove
			for _, id := range append(ids, "unknown") {
				moves = append(moves, repository.JobMove{
					JobAdvance: repository.JobAdvance{
						ID: id, NextFireTime: now.Add(time.Minute), DueTime: now.Add(time.Minute),
						Status: entity.JobEnabled,
					},
					From: now, Version: 1,
				})
			}
			var moved map[string]bool
			var locked []string
			move := func(ctx context.Context, tx repository.Tx) (err error) {
				moved, locked, err = tx.Jobs.Move(ctx, moves)
				return err
			}
			require.NoError(t, write(move))
			require.Equal(t, map[string]bool{"job-1": true, "job-3": true}, moved)
			require.Equal(t, []string{"job-2"}, locked)
			for range 5 {
				require.NoError(t, write(move))
				require.Equal(t, []string{"job-2"}, locked)
			}
			refused := 6 // each at once
			if s.Dialect.NoWait == "" {
				refused = 1 // after a lock wait: the next batches look first
			}
			require.Equal(t, map[string]int{"job.move": refused}, waited)
			err = write(func(ctx context.Context, tx repository.Tx) error {
				_, err := tx.Jobs.Lock(ctx, ids)
				return err
			})
			require.ErrorIs(t, err, repository.ErrLocked)
			require.Equal(t, 1, waited["job.lock"], "a fire waits for one lock wait and does not try again")
			require.NoError(t, held.Rollback())
			require.NoError(t, write(move))
			require.Equal(t, map[string]bool{"job-2": true}, moved)
			require.Empty(t, locked)
		})
	}
}
