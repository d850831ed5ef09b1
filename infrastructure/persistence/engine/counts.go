package engine

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Counts counts rows: repository.Counts.
type Counts struct{ c *sqldb.Conn }

// NewCounts gives the repository over the connections of c.
func NewCounts(c *sqldb.Conn) *Counts { return &Counts{c} }

// tally is a line of a count: how many rows of a status were looked at, and
// how many of them count.
type tally struct {
	status       string
	looked, mine int
}

func scanTally(rows *sql.Rows) (t tally, err error) {
	err = rows.Scan(&t.status, &t.looked, &t.mine)
	return t, err
}

// CountJobs implements repository.Counts.
func (r *Counts) CountJobs(ctx context.Context, groups []string) (map[entity.JobStatus]int, error) {
	where, args := " WHERE deleted = 0", []any(nil)
	if groups != nil {
		in, names := r.c.Dialect.InAny("group_name", groups)
		where, args = where+" AND "+in, names
	}
	lines, err := sqldb.Collect(ctx, r.c, "tally.jobs",
		"SELECT status, COUNT(*), COUNT(*) FROM scheduler_job_definition"+where+" GROUP BY status", args, scanTally)
	counts := map[entity.JobStatus]int{}
	for _, line := range lines {
		counts[entity.JobStatus(line.status)] = line.mine
	}
	return counts, err
}

// CountRuns implements repository.Counts.
func (r *Counts) CountRuns(ctx context.Context, since time.Time, groups []string,
	limit int,
) (map[entity.Status]int, bool, error) {
	mine, looked, err := r.count(ctx, "tally.runs",
		"status, job_id FROM scheduler_job_execution WHERE id >= ? ORDER BY id DESC", []any{identity.FloorID(since)}, groups,
		limit)
	counts := make(map[entity.Status]int, len(mine))
	for status, n := range mine {
		counts[entity.Status(status)] = n
	}
	return counts, looked >= limit, err
}

// CountClaims implements repository.Counts.
func (r *Counts) CountClaims(ctx context.Context, spans []entity.ClaimSpan, groups []string,
	limit int,
) ([]repository.SpanCount, error) {
	job := "job_id"
	if groups == nil {
		job = "'' AS job_id" // the index has all there is to read
	}
	texts, args := make([]string, len(spans)), []any(nil)
	for i, span := range spans {
		text, own := r.counting("'"+strconv.Itoa(i)+"' AS status, "+job+" FROM scheduler_job_execution"+
			r.c.Dialect.ByClaim+" WHERE claim_key >= ? AND claim_key < ?", []any{string(span.Lo), string(span.Hi)}, groups,
			limit)
		texts[i], args = text, append(args, own...)
	}
	lines, err := sqldb.Collect(ctx, r.c, "tally.claims", strings.Join(texts, " UNION ALL "), args, scanTally)
	if err != nil {
		return nil, err
	}
	counts := make([]repository.SpanCount, len(spans))
	for _, line := range lines {
		i, err := strconv.Atoi(line.status)
		if err != nil {
			return nil, err
		}
		counts[i] = repository.SpanCount{N: line.mine, Cut: line.looked >= limit}
	}
	return counts, nil
}

// CountLetters implements repository.Counts.
func (r *Counts) CountLetters(ctx context.Context, groups []string, limit int) (int, bool, error) {
	mine, looked, err := r.count(ctx, "tally.letters",
		"CASE WHEN replayed_as IS NULL THEN 'waiting' ELSE '' END AS status, job_id FROM scheduler_dead_letter ORDER BY "+
			"execution_id DESC",
		nil, groups, limit)
	return mine["waiting"], looked >= limit, err
}

// count looks at the first rows of a query for a status and a job's id, and
// counts by status those whose job is in one of the groups.
func (r *Counts) count(ctx context.Context, name, query string, args []any, groups []string,
	limit int,
) (mine map[string]int, looked int, err error) {
	text, args := r.counting(query, args, groups, limit)
	lines, err := sqldb.Collect(ctx, r.c, name, text, args, scanTally)
	mine = make(map[string]int, len(lines))
	for _, line := range lines {
		mine[line.status], looked = line.mine, looked+line.looked
	}
	return mine, looked, err
}

// counting is the text of count, with its arguments.
func (r *Counts) counting(query string, args []any, groups []string, limit int) (string, []any) {
	counted, join := "COUNT(*)", ""
	args = append(args, limit)
	if groups != nil {
		in, names := r.c.Dialect.InAny("j.group_name", groups)
		counted, join = "COUNT(j.id)", " LEFT JOIN scheduler_job_definition j ON j.id = w.job_id AND "+in
		args = append(args, names...)
	}
	return "SELECT w.status, COUNT(*), " + counted + " FROM (SELECT " + query + " LIMIT ?) w" + join +
		" GROUP BY w.status", args
}
