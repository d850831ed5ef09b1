// Package todo holds the rows of what stored changes owe.
package todo

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// Owed reads the rows: repository.TodoReader.
type Owed struct{ c *sqldb.Conn }

// New gives the repository over the connections of c.
func New(c *sqldb.Conn) *Owed { return &Owed{c} }

// Todos implements repository.TodoReader.
func (r *Owed) Todos(ctx context.Context, kind entity.TodoKind, until time.Time, limit int) ([]entity.Todo, error) {
	return sqldb.Collect(ctx, r.c, "todo.due", "SELECT run_id, item, owed_since FROM scheduler_workflow_todo "+
		"WHERE kind = ? AND owed_since <= ? ORDER BY owed_since LIMIT ?", []any{string(kind), until.UnixMilli(), limit},
		func(rows *sql.Rows) (t entity.Todo, err error) {
			var run []byte
			var since int64
			if err := rows.Scan(&run, &t.Item, &since); err != nil {
				return t, err
			}
			if len(run) != 16 {
				return t, fmt.Errorf("the run of a todo has %d bytes, not 16", len(run))
			}
			t.Run, t.Kind, t.Time = identity.Text([16]byte(run)), kind, time.UnixMilli(since).UTC()
			return t, nil
		})
}

// writer implements repository.TodoWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.TodoWriter { return &writer{c} }

// AddTodos implements repository.TodoWriter.
func (w *writer) AddTodos(ctx context.Context, todos []entity.Todo) error {
	w.c.TodosAdded = w.c.TodosAdded || len(todos) > 0
	return bulk.Insert(ctx, w.c, "todo.insert", "scheduler_workflow_todo (run_id, kind, item, owed_since)", 4,
		w.c.Dialect.OnDuplicateKeep("kind"), todos, func(args []any, t entity.Todo) []any {
			id, _ := identity.Bytes(t.Run) // ids of executions are made by identity
			return append(args, id[:], string(t.Kind), t.Item, t.Time.UnixMilli())
		})
}

// dropAtOnce bounds the rows that one statement deletes.
const dropAtOnce = 100

// DropTodos implements repository.TodoWriter.
func (w *writer) DropTodos(ctx context.Context, todos []entity.Todo) (dropped int, err error) {
	todos = slices.Clone(todos)
	slices.SortFunc(todos, func(a, b entity.Todo) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Run, b.Run))
	})
	for len(todos) > 0 {
		first, n := todos[0], 1
		for n < min(len(todos), dropAtOnce) && todos[n].Kind == first.Kind && todos[n].Item == first.Item {
			n++
		}
		args := []any{string(first.Kind), first.Item}
		for _, t := range todos[:n] {
			id, _ := identity.Bytes(t.Run) // ids of executions are made by identity
			args = append(args, id[:])
		}
		gone, err := w.c.Exec(ctx, "todo.delete", "DELETE FROM scheduler_workflow_todo WHERE kind = ? AND item = ? AND "+
			"run_id IN ("+dialect.Marks(n)+")", args...)
		if err != nil {
			return dropped, err
		}
		dropped, todos = dropped+int(gone), todos[n:]
	}
	return dropped, nil
}
