package monitoring

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// oneInterval is the condition for the rows of one period; see intervalArgs.
const oneInterval = "period = ? AND start >= ? AND start < ?"

func intervalArgs(p statistics.Period, i statistics.Interval) []any {
	return []any{string(p), i.From.UnixMilli(), i.To.UnixMilli()}
}

// byName makes a store read a table by job or scope, and not all rows of the span: without statistics of its own SQLite
// would.
func (r *Reader) byName(table string) string {
	if !r.c.Dialect.IsSQLite() {
		return forced(table)
	}
	if table == jobTable {
		return table + " INDEXED BY idx_job_stat_job"
	}
	return table + " INDEXED BY idx_scope_stat_scope"
}

// forced is a table that MySQL reads by job or scope. Its statistics tell nothing of an hour that has just begun: it
// would read, and lock, the rows of all jobs in it.
func forced(table string) string {
	if table == jobTable {
		return table + " FORCE INDEX (idx_job)"
	}
	return table + " FORCE INDEX (idx_scope)"
}

// SumRows implements repository.StatisticsReader. It is one statement, and so one
// snapshot.
func (r *Reader) SumRows(ctx context.Context, q repository.SumsQuery) ([]repository.SumRow, error) {
	table, column, where, args := jobTable, "job_id", "job_id = ?", []any{q.Job[:]}
	if q.Kind != "" {
		if len(q.Names) == 0 {
			return nil, nil
		}
		in, names := inBytes(r.c.Dialect, "name", q.Names, func(name string) []byte { return []byte(name) })
		table, column, where, args = scopeTable, "name", "kind = ? AND "+in, append([]any{string(q.Kind)}, names...)
	}
	one := "SELECT period, start, " + column + ", " + counters + ", histogram, fold_seq FROM " + r.byName(table) +
		" WHERE " + where + " AND " + oneInterval
	all := slices.Concat(args, intervalArgs(statistics.Hour, q.Hours), args, intervalArgs(statistics.Day, q.Days))
	rows, err := sqldb.Collect(ctx, r.c, "sums.range", one+" UNION ALL "+one, all,
		func(rows *sql.Rows) (found repository.SumRow, err error) {
			var last []byte
			var seq int64
			found.Row = &statistics.Row{}
			if _, err = scanRow(rows, found.Row, &seq, &found.Period, &found.Start, &last); err != nil {
				return found, err
			}
			if found.Kind = q.Kind; q.Kind == "" {
				copy(found.Job[:], last)
			} else {
				found.Name = string(last)
			}
			return found, nil
		})
	slices.SortFunc(rows, func(a, b repository.SumRow) int {
		return cmp.Or(cmp.Compare(b.Period, a.Period), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name, b.Name))
	})
	return rows, err
}

// topColumn is what TopJobs and JobTotals order by: the sum of columns of a row, and what it is of a total.
func topColumn(by repository.TopColumn) (column string, of func(t repository.JobTotal) int64, err error) {
	switch by {
	case repository.TopFailures:
		return "failed + timeout + dead", func(t repository.JobTotal) int64 { return t.Failures }, nil
	case repository.TopRuns:
		return "runs", func(t repository.JobTotal) int64 { return t.Runs }, nil
	case repository.TopDuration:
		return "duration_ms", func(t repository.JobTotal) int64 { return t.DurationMs }, nil
	case repository.TopLate:
		return "late_runs", func(t repository.JobTotal) int64 { return t.LateRuns }, nil
	case repository.TopSkipped:
		return "skipped", func(t repository.JobTotal) int64 { return t.Skipped }, nil
	case repository.TopRetries:
		return "retries", func(t repository.JobTotal) int64 { return t.Retries }, nil
	}
	return "", nil, fmt.Errorf("jobs cannot be ordered by %q", by)
}

// TopJobs implements repository.StatisticsReader. It reads each row of the span, so it adds up one column, of the rows
// where it is not 0, and each period by itself: a server need not keep them all before it adds them up. Steps of
// workflows are no jobs: their ids come before all others.
func (r *Reader) TopJobs(ctx context.Context, by repository.TopColumn, hours, days statistics.Interval, limit int) (
	[]repository.BinaryID, error,
) {
	column, _, err := topColumn(by)
	if err != nil {
		return nil, err
	}
	from := jobTable
	if !r.c.Dialect.IsSQLite() {
		from += " FORCE INDEX (PRIMARY)" // by time; in the order of jobs it would look each row up
	}
	one := "SELECT job_id, SUM(" + column + ") AS most FROM " + from + " WHERE " + oneInterval + " AND " + column +
		" > 0 AND job_id >= ? GROUP BY job_id"
	query := "SELECT job_id FROM (" + one + " UNION ALL " + one + ") sums GROUP BY job_id" +
		" ORDER BY SUM(most) DESC, job_id LIMIT ?"
	// Ids of steps begin with no moment, and that of a job with one.
	job := repository.BinaryID{5: 1}
	first := []any{job[:]}
	args := append(slices.Concat(intervalArgs(statistics.Hour, hours), first, intervalArgs(statistics.Day, days), first),
		limit)
	return sqldb.Collect(ctx, r.c, "sums.top", query, args, func(rows *sql.Rows) (id repository.BinaryID, err error) {
		err = rows.Scan(scanID(&id))
		return id, err
	})
}

// JobTotals implements repository.StatisticsReader.
func (r *Reader) JobTotals(ctx context.Context, jobs []repository.BinaryID, by repository.TopColumn,
	hours, days statistics.Interval,
) ([]repository.JobTotal, error) {
	_, of, err := topColumn(by)
	if err != nil {
		return nil, err
	}
	var totals []repository.JobTotal
	for part := range slices.Chunk(jobs, r.c.Dialect.MaxRows) {
		in, ids := inBytes(r.c.Dialect, "job_id", part, bytesOfID)
		one := "SELECT job_id, runs, success, failed + timeout + dead AS failures, skipped, retries, duration_ms, late_runs" +
			" FROM " + r.byName(jobTable) + " WHERE " + in + " AND " + oneInterval
		query := "SELECT job_id, SUM(runs), SUM(success), SUM(failures), SUM(skipped), SUM(retries), SUM(duration_ms)," +
			" SUM(late_runs) FROM (" + one + " UNION ALL " + one + ") sums GROUP BY job_id"
		args := slices.Concat(ids, intervalArgs(statistics.Hour, hours), ids, intervalArgs(statistics.Day, days))
		found, err := sqldb.Collect(ctx, r.c, "sums.totals", query, args,
			func(rows *sql.Rows) (t repository.JobTotal, err error) {
				err = rows.Scan(scanID(&t.Job), &t.Runs, &t.Success, &t.Failures, &t.Skipped, &t.Retries, &t.DurationMs,
					&t.LateRuns)
				return t, err
			})
		if err != nil {
			return nil, err
		}
		totals = append(totals, found...)
	}
	slices.SortFunc(totals, func(a, b repository.JobTotal) int {
		return cmp.Or(cmp.Compare(of(b), of(a)), bytes.Compare(a.Job[:], b.Job[:]))
	})
	return totals, nil
}
