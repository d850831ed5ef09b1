package monitoring

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
)

const (
	counters   = "runs, success, failed, timeout, cancelled, dead, skipped, retries, duration_ms, lateness_ms, late_runs"
	jobTable   = "scheduler_job_stat"
	scopeTable = "scheduler_scope_stat"
)

// columnsOf are the counters of a row, in the order of counters.
func columnsOf(r *statistics.Row) []any {
	return []any{
		&r.Runs, &r.Success, &r.Failed, &r.Timeout, &r.Cancelled, &r.Dead, &r.Skipped, &r.Retries,
		&r.DurationMs, &r.LatenessMs, &r.LateRuns,
	}
}

// valuesOf are columnsOf as they are stored.
func valuesOf(args []any, r *statistics.StoredRow) []any {
	for _, c := range columnsOf(&r.Row) {
		args = append(args, *c.(*int64))
	}
	return append(args, r.AppendHistograms([]byte{}), r.FoldSeq)
}

// group is keys that differ in the job, or in the name of a scope, alone.
type group struct {
	table, where, column string
	args                 []any
	keys                 []repository.SumKey
}

// lastPart is what the keys of a group differ in.
func lastPart(k repository.SumKey) []byte {
	if k.Kind == "" {
		return k.Job[:]
	}
	return []byte(k.Name)
}

// grouped divides keys into groups of one statement each.
func grouped(keys []repository.SumKey, most int) (groups []group) {
	type head struct {
		period statistics.Period
		start  int64
		kind   statistics.Kind
	}
	at := map[head]int{}
	for _, k := range keys {
		h := head{k.Period, k.Start, k.Kind}
		i, ok := at[h]
		if !ok || len(groups[i].keys) == most {
			i, at[h] = len(groups), len(groups)
			g := group{
				table: jobTable, where: "period = ? AND start = ?", column: "job_id", args: []any{string(k.Period), k.Start},
			}
			if k.Kind != "" {
				g.table, g.column = scopeTable, "name"
				g.where, g.args = g.where+" AND kind = ?", append(g.args, string(k.Kind))
			}
			groups = append(groups, g)
		}
		groups[i].keys = append(groups[i].keys, k)
	}
	return groups
}

// Sums implements repository.StatisticsWriter.
func (w *writer) Sums(ctx context.Context, keys []repository.SumKey) (
	rows map[repository.SumKey]*statistics.StoredRow, unreadable []repository.SumKey, err error,
) {
	rows = make(map[repository.SumKey]*statistics.StoredRow, len(keys))
	for _, g := range grouped(keys, w.c.Dialect.MaxRows) {
		in, args := inBytes(w.c.Dialect, g.column, g.keys, lastPart)
		table := g.table
		if !w.c.Dialect.IsSQLite() {
			table = forced(table)
		}
		_, err := sqldb.Collect(ctx, w.c, "sums.read", "SELECT "+g.column+", "+counters+", histogram, fold_seq FROM "+
			table+" WHERE "+g.where+" AND "+in+w.c.Dialect.ForUpdate, append(g.args, args...),
			func(found *sql.Rows) (none struct{}, err error) {
				row := &statistics.StoredRow{}
				var last []byte
				readable, err := scanRow(found, &row.Row, &row.FoldSeq, &last)
				if err != nil {
					return none, err
				}
				key := g.keys[0]
				if key.Kind == "" {
					copy(key.Job[:], last)
				} else {
					key.Name = string(last)
				}
				if rows[key] = row; !readable {
					unreadable = append(unreadable, key)
				}
				return none, nil
			})
		if err != nil {
			return nil, nil, err
		}
	}
	return rows, unreadable, nil
}

// scanRow reads dest, the counters, the histograms and the number of the batch. It is
// not readable where the histograms are not; they are empty then.
func scanRow(rows *sql.Rows, row *statistics.Row, seq *int64, dest ...any) (readable bool, err error) {
	var histogram []byte
	if err := rows.Scan(append(append(dest, columnsOf(row)...), &histogram, seq)...); err != nil {
		return false, err
	}
	return row.DecodeHistograms(histogram) == nil, nil
}

// written are the columns that PutSums writes over.
var written = []string{
	"runs", "success", "failed", "timeout", "cancelled", "dead", "skipped", "retries", "duration_ms", "lateness_ms",
	"late_runs", "histogram", "fold_seq",
}

// PutSums implements repository.StatisticsWriter.
func (w *writer) PutSums(ctx context.Context, keys []repository.SumKey,
	rows map[repository.SumKey]*statistics.StoredRow,
) error {
	jobs, scopes := dividedKeys(keys)
	err := bulk.Insert(ctx, w.c, "sums.put-jobs", jobTable+" (period, start, job_id, "+counters+", histogram, fold_seq)",
		16, w.c.Dialect.OnDuplicateSet("period, start, job_id", written...), jobs,
		func(args []any, k repository.SumKey) []any {
			return valuesOf(append(args, string(k.Period), k.Start, k.Job[:]), rows[k])
		})
	if err != nil {
		return err
	}
	return bulk.Insert(ctx, w.c, "sums.put-scopes",
		scopeTable+" (period, start, kind, name, "+counters+", histogram, fold_seq)", 17,
		w.c.Dialect.OnDuplicateSet("period, start, kind, name", written...), scopes,
		func(args []any, k repository.SumKey) []any {
			return valuesOf(append(args, string(k.Period), k.Start, string(k.Kind), []byte(k.Name)), rows[k])
		})
}

// dividedKeys tells the rows of jobs from those of scopes.
func dividedKeys(keys []repository.SumKey) (jobs, scopes []repository.SumKey) {
	for _, k := range keys {
		if k.Kind == "" {
			jobs = append(jobs, k)
		} else {
			scopes = append(scopes, k)
		}
	}
	return jobs, scopes
}

// DropSums implements repository.StatisticsWriter.
func (w *writer) DropSums(ctx context.Context, keys []repository.SumKey) error {
	for _, g := range grouped(keys, w.c.Dialect.MaxRows) {
		in, args := inBytes(w.c.Dialect, g.column, g.keys, lastPart)
		from := "DELETE FROM " + g.table
		if !w.c.Dialect.IsSQLite() {
			from = "DELETE " + g.table + " FROM " + forced(g.table)
		}
		_, err := w.c.Exec(ctx, "sums.drop", from+" WHERE "+g.where+" AND "+in, append(g.args, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// OldSums implements repository.StatisticsWriter.
func (w *writer) OldSums(ctx context.Context, period statistics.Period, before time.Time, limit int) (
	[]repository.SumKey, error,
) {
	args := []any{string(period), before.UnixMilli(), limit}
	jobs, err := sqldb.Collect(ctx, w.c, "sums.old-jobs",
		"SELECT start, job_id FROM "+jobTable+" WHERE period = ? AND start < ? ORDER BY period, start, job_id LIMIT ?", args,
		func(rows *sql.Rows) (k repository.SumKey, err error) {
			k.Period = period
			err = rows.Scan(&k.Start, scanID(&k.Job))
			return k, err
		})
	if err != nil {
		return nil, err
	}
	scopes, err := sqldb.Collect(ctx, w.c, "sums.old-scopes",
		"SELECT start, kind, name FROM "+scopeTable+
			" WHERE period = ? AND start < ? ORDER BY period, start, kind, name LIMIT ?", args,
		func(rows *sql.Rows) (k repository.SumKey, err error) {
			var name []byte
			k.Period = period
			err = rows.Scan(&k.Start, &k.Kind, &name)
			k.Name = string(name)
			return k, err
		})
	return slices.Concat(jobs, scopes), err
}
