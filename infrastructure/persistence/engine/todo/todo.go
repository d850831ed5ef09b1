// Package todo holds the rows of what stored changes owe.
package todo

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
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
	for _, t := range todos {
		if !slices.Contains(w.c.TodosAdded, t.Kind) {
			w.c.TodosAdded = append(w.c.TodosAdded, t.Kind)
		}
	}
	return bulk.Insert(ctx, w.c, "todo.insert", "scheduler_workflow_todo (run_id, kind, item, owed_since)", 4,
		w.c.Dialect.OnDuplicateKeep("kind"), todos, func(args []any, t entity.Todo) []any {
			return append(args, key(t), string(t.Kind), t.Item, t.Time.UnixMilli())
		})
}

// dropAtOnce bounds the rows that one statement deletes.
const dropAtOnce = 100

// DropTodos implements repository.TodoWriter.
func (w *writer) DropTodos(ctx context.Context, todos []entity.Todo) (dropped int, err error) {
	todos = slices.Clone(todos)
	slices.SortFunc(todos, func(a, b entity.Todo) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Item, b.Item))
	})
	todos = slices.CompactFunc(todos, func(a, b entity.Todo) bool {
		return a.Kind == b.Kind && a.Run == b.Run && a.Item == b.Item
	})
	for part := range slices.Chunk(todos, dropAtOnce) {
		where, args := rows(part)
		gone, err := w.c.Exec(ctx, "todo.delete", "DELETE FROM scheduler_workflow_todo WHERE "+where, args...)
		if err != nil {
			return dropped, err
		}
		dropped += int(gone)
	}
	return dropped, nil
}

// rows finds rows by their keys. Rows of one kind and item are one list; else each run has a part of its own.
func rows(todos []entity.Todo) (where string, args []any) {
	first := todos[0]
	if !slices.ContainsFunc(todos, func(t entity.Todo) bool { return t.Kind != first.Kind || t.Item != first.Item }) {
		args = append(args, string(first.Kind), first.Item)
		for _, t := range todos {
			args = append(args, key(t))
		}
		return "kind = ? AND item = ? AND run_id IN (" + dialect.Marks(len(todos)) + ")", args
	}
	var parts []string
	for len(todos) > 0 {
		n := 1
		for n < len(todos) && todos[n].Run == todos[0].Run && todos[n].Kind == todos[0].Kind {
			n++
		}
		args = append(args, key(todos[0]), string(todos[0].Kind))
		for _, t := range todos[:n] {
			args = append(args, t.Item)
		}
		parts = append(parts, "run_id = ? AND kind = ? AND item IN ("+dialect.Marks(n)+")")
		todos = todos[n:]
	}
	return strings.Join(parts, " OR "), args
}

// key is the run of a todo as it is stored.
func key(t entity.Todo) []byte {
	id, _ := identity.Bytes(t.Run) // ids of executions are made by identity
	return id[:]
}
