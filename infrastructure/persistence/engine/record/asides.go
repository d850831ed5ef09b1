package record

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// maxAsideReason is what the column of a reason holds, in characters; a character has a byte at least.
const maxAsideReason = 1000

// SetAside implements repository.RecordWriter.
func (w *recordWriter) SetAside(ctx context.Context, a entity.SetAside) error {
	var data any
	if a.Data != nil {
		data = a.Data
	}
	_, err := w.c.Exec(ctx, "aside.insert",
		"INSERT INTO scheduler_set_aside (kind, id, job, rule, state, reason, time, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"+
			w.c.Dialect.OnDuplicateSet("kind, id", "state", "reason"),
		string(a.Kind), a.ID, sqlvalue.TextOrNull(a.Job), sqlvalue.TextOrNull(a.Rule), string(a.State),
		validation.Text(a.Reason, maxAsideReason), sqlvalue.TimeArg(a.Time), data)
	return err
}

// DropAside implements repository.RecordWriter.
func (w *recordWriter) DropAside(ctx context.Context, kind entity.AsideKind, ids []string) error {
	return w.c.ExecIn(ctx, "aside.drop", "DELETE FROM scheduler_set_aside WHERE kind = ? AND {in}", "id", ids, string(kind))
}

// Asides reads what was set aside: repository.Asides.
type Asides struct{ c *sqldb.Conn }

// NewAsides gives the repository over the connections of c.
func NewAsides(c *sqldb.Conn) *Asides { return &Asides{c} }

const asideColumns = "SELECT kind, id, COALESCE(job, ''), COALESCE(rule, ''), state, reason, time FROM " +
	"scheduler_set_aside"

func scanAside(rows *sql.Rows) (a entity.SetAside, err error) {
	var at sqlvalue.DBTime
	err = rows.Scan(&a.Kind, &a.ID, &a.Job, &a.Rule, &a.State, &a.Reason, &at)
	a.Time = at.Time()
	return a, err
}

// ListAsides implements repository.Asides.
func (r *Asides) ListAsides(ctx context.Context, kind entity.AsideKind, limit int) ([]entity.SetAside, error) {
	where, args := "", []any{}
	if kind != "" {
		where, args = " WHERE kind = ?", append(args, string(kind))
	}
	return sqldb.Collect(ctx, r.c, "aside.list", asideColumns+where+" ORDER BY time DESC, kind, id LIMIT ?",
		append(args, limit), scanAside)
}

// AsidesOf implements repository.Asides.
func (r *Asides) AsidesOf(ctx context.Context, kind entity.AsideKind, ids []string) (
	map[string]entity.SetAside, error,
) {
	found, err := sqldb.CollectIn(ctx, r.c, "aside.of", asideColumns+" WHERE kind = ? AND {in}", "id",
		sqlvalue.OnlyASCIIIDs(ids), scanAside, string(kind))
	out := make(map[string]entity.SetAside, len(found))
	for _, a := range found {
		out[a.ID] = a
	}
	return out, err
}

// CountAsides implements repository.Asides.
func (r *Asides) CountAsides(ctx context.Context) (map[entity.AsideKind]int, error) {
	type count struct {
		kind entity.AsideKind
		rows int
	}
	found, err := sqldb.Collect(ctx, r.c, "aside.count",
		"SELECT kind, COUNT(*) FROM scheduler_set_aside GROUP BY kind", nil,
		func(rows *sql.Rows) (c count, err error) { return c, rows.Scan(&c.kind, &c.rows) })
	out := map[entity.AsideKind]int{}
	for _, c := range found {
		out[c.kind] = c.rows
	}
	return out, err
}
