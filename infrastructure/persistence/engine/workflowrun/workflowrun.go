// Package workflowrun holds the rows of workflow runs and of their steps' ids.
package workflowrun

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/owner"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const columns = "id, workflow_id, version, seq, phase, state, wake_at, problem, create_time, update_time"

// Runs reads workflow runs: repository.WorkflowRunReader.
type Runs struct{ c *sqldb.Conn }

// New gives the repository over the connections of c.
func New(c *sqldb.Conn) *Runs { return &Runs{c} }

// WorkflowRuns implements repository.WorkflowRunReader.
func (r *Runs) WorkflowRuns(ctx context.Context, ids []string) ([]workflow.Run, error) {
	return sqldb.CollectIn(ctx, r.c, "run.read", "SELECT "+columns+" FROM scheduler_workflow_run WHERE {in}", "id",
		sqlvalue.OnlyASCIIIDs(ids), scan)
}

func scan(rows *sql.Rows) (r workflow.Run, err error) {
	var wake sql.NullInt64
	var problem sql.NullString
	var created, updated sqlvalue.DBTime
	err = rows.Scan(&r.ID, &r.WorkflowID, &r.Version, &r.Seq, &r.Phase, &r.State, &wake, &problem, &created, &updated)
	if wake.Valid {
		r.Wake = time.UnixMilli(wake.Int64).UTC()
	}
	r.Problem, r.CreateTime, r.UpdateTime = problem.String, created.Time(), updated.Time()
	return r, err
}

// RunsToWake implements repository.WorkflowRunReader.
func (r *Runs) RunsToWake(ctx context.Context, until time.Time, limit int) ([]string, error) {
	return sqldb.Collect(ctx, r.c, "run.wake", "SELECT id FROM scheduler_workflow_run WHERE wake_at <= ? "+
		"ORDER BY wake_at LIMIT ?", []any{until.UnixMilli(), limit}, sqlvalue.ScanText)
}

// WorkflowSteps implements repository.WorkflowRunReader.
func (r *Runs) WorkflowSteps(ctx context.Context, ids []string) ([]workflow.StepRow, error) {
	steps, err := owner.Steps(ctx, r.c, ids)
	return slices.Collect(maps.Values(steps)), err
}

// writer implements repository.WorkflowRunWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.WorkflowRunWriter { return &writer{c} }

const insert = "scheduler_workflow_run (" + columns + ")"

func values(args []any, r workflow.Run) []any {
	var state, wake any
	if len(r.State) > 0 {
		state = r.State
	}
	if !r.Wake.IsZero() {
		wake = r.Wake.UnixMilli()
	}
	return append(args, r.ID, r.WorkflowID, r.Version, r.Seq, int(r.Phase), state, wake, sqlvalue.TextOrNull(r.Problem),
		sqlvalue.TimeText(r.CreateTime), sqlvalue.TimeText(r.UpdateTime))
}

// AddRuns implements repository.WorkflowRunWriter.
func (w *writer) AddRuns(ctx context.Context, runs []workflow.Run) error {
	err := bulk.Insert(ctx, w.c, "run.insert", insert, 10, w.c.Dialect.OnDuplicateKeep("id"), runs, values)
	if len(runs) > 0 {
		_ = failpoint.Hit(w.c.Transaction, "run-opened")
	}
	return err
}

// LockRuns implements repository.WorkflowRunWriter.
func (w *writer) LockRuns(ctx context.Context, ids []string) (map[string]int64, error) {
	type row struct {
		id  string
		seq int64
	}
	found, err := sqldb.CollectIn(ctx, w.c, "run.lock", "SELECT id, seq FROM scheduler_workflow_run WHERE {in} ORDER BY id"+
		w.c.Dialect.ForUpdate, "id", sqlvalue.LockOrder(ids), func(rows *sql.Rows) (r row, err error) {
		err = rows.Scan(&r.id, &r.seq)
		return r, err
	})
	_ = failpoint.Hit(w.c.Transaction, "run-locked")
	seqs := make(map[string]int64, len(found))
	for _, r := range found {
		seqs[r.id] = r.seq
	}
	return seqs, err
}

// SaveRuns implements repository.WorkflowRunWriter. The rows are there and locked: the insert is a way to write another
// value into each by one statement.
func (w *writer) SaveRuns(ctx context.Context, runs []workflow.Run, now time.Time) error {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Seq++
		runs[i].UpdateTime = now
	}
	err := bulk.Insert(ctx, w.c, "run.save", insert, 10,
		w.c.Dialect.OnDuplicateSet("id", "seq", "phase", "state", "wake_at", "problem", "update_time"), runs, values)
	if len(runs) > 0 {
		_ = failpoint.Hit(w.c.Transaction, "run-saved")
	}
	return err
}

// AddSteps implements repository.WorkflowRunWriter.
func (w *writer) AddSteps(ctx context.Context, steps []workflow.StepRow) error {
	return bulk.Insert(ctx, w.c, "step.insert", "scheduler_workflow_step (id, workflow_id, name)", 3,
		w.c.Dialect.OnDuplicateKeep("id"), steps, func(args []any, s workflow.StepRow) []any {
			return append(args, s.ID, s.WorkflowID, s.Name)
		})
}
