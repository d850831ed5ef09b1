package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// firesPerStatement is how many spans of ids one statement asks MySQL for: few
// enough that it looks each of them up in the index.
const firesPerStatement = 100

// firesAt reads what begins with some moments from the index over job and id,
// however many runs the job has in between.
func firesAt(ctx context.Context, c *sqldb.Conn, jobID string, times []time.Time) ([]*entity.Execution, error) {
	if !sqlvalue.IsASCIIID(jobID) || len(times) == 0 {
		return nil, nil
	}
	if c.Dialect.IsSQLite() {
		return firesAtSQLite(ctx, c, jobID, times)
	}
	var out []*entity.Execution
	for part := range slices.Chunk(times, firesPerStatement) {
		args := make([]any, 0, 1+2*len(part))
		args = append(args, jobID)
		for _, t := range part {
			lo, hi := idsAt(t)
			args = append(args, lo, hi)
		}
		spans := strings.Repeat(" OR id >= ? AND id < ?", len(part))[len(" OR "):]
		rows, err := sqldb.Collect(ctx, c, "execution.fires-at",
			"SELECT id, fire_key, status FROM scheduler_job_execution"+c.Dialect.ByJob+" WHERE job_id = ? AND ("+spans+")", args,
			scanFire)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// firesAtSQLite gives SQLite the spans as one argument, and walks the index once
// for each.
func firesAtSQLite(ctx context.Context, c *sqldb.Conn, jobID string, times []time.Time) ([]*entity.Execution, error) {
	spans := make([][2]string, len(times))
	for i, t := range times {
		spans[i][0], spans[i][1] = idsAt(t)
	}
	list, err := json.Marshal(spans)
	if err != nil {
		return nil, err
	}
	return sqldb.Collect(ctx, c, "execution.fires-at",
		"SELECT e.id, e.fire_key, e.status FROM json_each(?) s CROSS JOIN scheduler_job_execution e"+c.Dialect.ByJob+
			" ON e.job_id = ? AND e.id >= s.value ->> 0 AND e.id < s.value ->> 1", []any{string(list), jobID}, scanFire)
}

// idsAt are the bounds of the ids that begin with a moment.
func idsAt(t time.Time) (lo, hi string) {
	return identity.FloorID(t), identity.FloorID(t.Add(time.Millisecond))
}

func scanFire(rows *sql.Rows) (*entity.Execution, error) {
	var e entity.Execution
	return &e, rows.Scan(&e.ID, &e.FireKey, &e.Status)
}

// madeGood finds what was repeated with success, or is being repeated: the retries of a
// run, and their retries, name it as their root.
func madeGood(ctx context.Context, c *sqldb.Conn, ids []string) (map[string]bool, error) {
	good := map[string]bool{}
	_, err := sqldb.CollectIn(ctx, c, "execution.made-good",
		`SELECT DISTINCT r.root_id FROM scheduler_execution_replay r JOIN scheduler_job_execution e
		ON e.id = r.execution_id WHERE e.status IN ('WAITING', 'RUNNING', 'SUCCESS') AND {in}`, "r.root_id", ids,
		func(rows *sql.Rows) (root string, err error) {
			err = rows.Scan(&root)
			good[root] = true
			return root, err
		})
	return good, err
}
