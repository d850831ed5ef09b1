package persistence_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// longQueue stores a job with one active fire and many that wait for it, all
// made within one second, and returns the fires in their order.
func longQueue(t *testing.T, s *persistence.Store, jobID string, fires int) []entity.InFlightFire {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	job := &entity.Job{
		ID: jobID, Name: jobID, Group: "g", Version: 1, Status: entity.JobEnabled, CreateTime: now,
		UpdateTime: now,
	}
	var live []entity.InFlightFire
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		live = nil
		var rows []*entity.Execution
		for i := range fires {
			made := now.Add(time.Duration(i) * time.Millisecond)
			id := identity.RandomID(made)
			f := entity.InFlightFire{
				JobID: jobID, FireKey: "MANUAL:" + id, Active: i == 0, Remaining: 1, Seq: int64(i + 1),
				JobVersion: 1, CreateTime: made,
			}
			row := &entity.Execution{
				ID: id, JobID: jobID, FireKey: f.FireKey, ScheduledTime: made, DueTime: made, Trigger: entity.TriggerManual,
				ShardTotal: 1,
				Status:     entity.StatusWaiting, Claim: entity.QueuedKey(jobID, f.Seq), JobVersion: 1, CreateTime: made,
				UpdateTime: made,
			}
			if f.Active {
				row.Claim = entity.CommonQueue.Key(5, made)
			}
			live, rows = append(live, f), append(rows, row)
		}
		if err := tx.Jobs.Insert(ctx, job); err != nil {
			return err
		}
		if err := tx.InFlightFires.Insert(ctx, live); err != nil {
			return err
		}
		return tx.Executions.Insert(ctx, rows)
	}))
	return live
}

// rowsRead is how many rows the session of a transaction has read so far.
func rowsRead(ctx context.Context, t *testing.T, tx dbtest.Tx) int {
	t.Helper()
	table := "performance_schema.session_status"
	version, err := tx.QueryText(ctx, "SELECT VERSION()")
	require.NoError(t, err)
	if strings.Contains(version, "MariaDB") {
		table = "information_schema.SESSION_STATUS"
	}
	text, err := tx.QueryText(ctx, "SELECT CAST(SUM(VARIABLE_VALUE) AS CHAR) FROM "+table+
		" WHERE VARIABLE_NAME IN ('Handler_read_first', 'Handler_read_key', 'Handler_read_next', 'Handler_read_prev', "+
		"'Handler_read_last')")
	require.NoError(t, err)
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// Engine rule 16: what is asked about a job's fires reads what it answers, and
// no more where the queue is long.
func TestALongQueueIsNotRead(t *testing.T) {
	dbtest.NeedMySQL(t)
	s := dbtest.Open(t, dbtest.Migrated(t))
	live := longQueue(t, s, "long", 3000)
	longQueue(t, s, "other", 3000)
	some := live[1000:1500]
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, tx dbtest.Tx) error
		most int
	}{
		{"count", func(ctx context.Context, tx dbtest.Tx) error {
			counts, err := tx.InFlightFires.Count(ctx, []string{"long", "other"})
			require.Equal(t, repository.FireCount{Active: 1, FirstQueued: 2}, counts["long"])
			return err
		}, 20},
		{"the first that waits", func(ctx context.Context, tx dbtest.Tx) error {
			fires, err := tx.InFlightFires.Oldest(ctx,
				[]repository.Oldest{{JobID: "long", Limit: 1}, {JobID: "other", Limit: 1}})
			require.Len(t, fires, 2)
			return err
		}, 20},
		{"its runs", func(ctx context.Context, tx dbtest.Tx) error {
			rows, err := tx.Executions.TryLockAt(ctx, []entity.ClaimKey{entity.QueuedKey("long", 2)})
			require.Len(t, rows, 1)
			return err
		}, 20},
		{"the runs of an active fire", func(ctx context.Context, tx dbtest.Tx) error {
			rows, err := tx.InFlightFires.ExecutionsOf(ctx, live[0])
			require.Len(t, rows, 1)
			return err
		}, 20},
		{"the runs of a queued fire", func(ctx context.Context, tx dbtest.Tx) error {
			rows, err := tx.InFlightFires.ExecutionsOf(ctx, live[2000])
			require.Len(t, rows, 1)
			return err
		}, 20},
		{"some of them", func(ctx context.Context, tx dbtest.Tx) error {
			fires, err := tx.InFlightFires.Some(ctx, some)
			require.Len(t, fires, len(some))
			return err
		}, 3 * len(some)},
		{"let some go", func(ctx context.Context, tx dbtest.Tx) error {
			return tx.InFlightFires.Delete(ctx, some)
		}, 3 * len(some)},
		{"give up their places", func(ctx context.Context, tx dbtest.Tx) error {
			return tx.Groups.Release(ctx, some)
		}, 3 * len(some)},
	} {
		require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "test",
			func(ctx context.Context, tx dbtest.Tx) error {
				before := rowsRead(ctx, t, tx)
				if err := c.do(ctx, tx); err != nil {
					return err
				}
				read := rowsRead(ctx, t, tx) - before
				require.LessOrEqual(t, read, c.most, fmt.Sprintf("rows read for %q", c.name))
				return nil
			}))
	}
}
