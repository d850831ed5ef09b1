package persistence_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// historyJobs is how many jobs the runs belong to.
const historyJobs = 1000

// history is a store filled as by months of work: runs of 1,000 jobs in 20
// groups, 96 % of them good, and many more jobs without runs.
type history struct {
	t    testing.TB
	rows int
}

// at is the moment of the n-th run, one each 100 ms.
func (history) at(n int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 100 * time.Millisecond)
}

func fillHistory(t testing.TB, s *persistence.Store, rows int) history {
	t.Helper()
	const batch = 5000
	h := history{t: t, rows: rows}
	each := func(n int, fn func(ctx context.Context, tx dbtest.Tx, from, to int) error) {
		for from := 0; from < n; from += batch {
			require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "fill",
				func(ctx context.Context, tx dbtest.Tx) error {
					return fn(ctx, tx, from, min(from+batch, n))
				}))
		}
	}
	each(max(rows/10, historyJobs+2), func(ctx context.Context, tx dbtest.Tx, from, to int) error {
		return tx.Jobs.Insert(ctx, numbered(from, to, h.job)...)
	})
	each(rows, func(ctx context.Context, tx dbtest.Tx, from, to int) error {
		return tx.Executions.Insert(ctx, numbered(from, to, h.run))
	})
	each(rows/10, func(ctx context.Context, tx dbtest.Tx, from, to int) error {
		return tx.Records.AddDeadLetters(ctx, numbered(from, to, h.letter))
	})
	each(rows/10, h.audit)
	return h
}

func numbered[T any](from, to int, of func(n int) T) []T {
	var out []T
	for n := from; n < to; n++ {
		out = append(out, of(n))
	}
	return out
}

func (h history) job(n int) *entity.Job {
	j := benchJob(n, h.at(h.rows).AddDate(1, 0, 0))
	j.Group = fmt.Sprintf("group %d", n%20)
	if n == historyJobs {
		j.Group = "rare"
	}
	if n%1000 == 17 {
		j.Status, j.NextFireTime, j.DueTime = entity.JobPaused, time.Time{}, time.Time{}
	}
	return j
}

// run is the n-th run: one node left early, the newest 20 still run, and one
// old run is of a job that has no other.
func (h history) run(n int) *entity.Execution {
	at, job := h.at(n), benchJobID(n*7919%historyJobs)
	if n == 100 {
		job = benchJobID(historyJobs)
	}
	key := identity.FireKey(at)
	e := &entity.Execution{
		ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
		Trigger:    entity.TriggerSchedule,
		JobVersion: 1, Priority: 5, Status: entity.StatusSuccess, NodeID: fmt.Sprintf("node-%d", 1+n%2), Epoch: 1, Token: 1,
		Attempt:   1,
		StartTime: at, EndTime: at.Add(time.Second), Duration: time.Second, CreateTime: at, UpdateTime: at.Add(time.Second),
		Result: "42 rows were copied",
	}
	switch {
	case n >= h.rows-20:
		e.Status, e.Claim, e.EndTime = entity.StatusRunning, entity.RunningKey(e.NodeID), time.Time{}
	case n%50_000 == 33_333:
		e.Status = entity.StatusDead
	case n%50 == 11:
		e.Status, e.Reason, e.ErrorMessage = entity.StatusFailed, entity.ReasonHTTPStatus, "the target answered 500"
	case n%50 == 12:
		e.Status = entity.StatusSkipped
	}
	if n%5000 == 4321 {
		e.Trigger = entity.TriggerManual
	}
	if n < h.rows/100 {
		e.NodeID = "node-gone"
	}
	return e
}

func (h history) letter(n int) entity.DeadLetter {
	e := h.run(10 * n)
	return entity.DeadLetter{
		ExecutionID: e.ID, JobID: e.JobID, Reason: entity.ReasonHTTPStatus,
		Message: "the target answered 500", CreateTime: h.at(10 * n),
	}
}

func (h history) audit(ctx context.Context, tx dbtest.Tx, from, to int) error {
	for ; from < to; from += 500 {
		var args []any
		for n := from; n < from+500; n++ {
			at := h.at(n)
			args = append(args, identity.ExecutionID(at, "audit", "", n), sqlvalue.TimeText(at), fmt.Sprintf("user-%d", n%10),
				"PUT /jobs/:id", fmt.Sprintf("job %d", n%1000), 200)
		}
		rows := strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?),", 500), ",")
		if _, err := tx.Exec(ctx,
			"INSERT INTO scheduler_audit_log (id, create_time, user_id, action, object, status) VALUES "+rows,
			args...); err != nil {
			return err
		}
	}
	return nil
}
