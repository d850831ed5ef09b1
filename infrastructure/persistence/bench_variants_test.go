package persistence_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// variants lists what is compared; the first is the base of the ratios.
func variants(lite bool) []variant {
	drop := func(index string) []string {
		if lite {
			return []string{"DROP INDEX " + map[string]string{
				"idx_job_id": "idx_execution_job",
				"idx_claim":  "idx_execution_claim",
			}[index]}
		}
		return []string{"ALTER TABLE scheduler_job_execution DROP INDEX " + index}
	}
	create := func(name, columns string) string {
		return "CREATE INDEX " + name + " ON scheduler_job_execution (" + columns + ")"
	}
	common := []variant{
		{name: "as built"},
		{name: "as built, again"}, // how far equal things differ here
		{name: "no claim key for direct starts", noKey: true},
		{name: "without the claim index", setup: drop("idx_claim")},
		{name: "without the job index", setup: drop("idx_job_id")},
		{
			name:  "with the design's (status), (start_time)",
			setup: []string{create("x_status", "status"), create("x_start", "start_time")},
		},
		{name: "with (retry_of)", setup: []string{create("x_retry", "retry_of")}},
	}
	dueIndex := func(columns string) []string {
		if lite {
			return []string{"DROP INDEX idx_job_due", "CREATE INDEX idx_job_due ON scheduler_job_definition (" + columns + ")"}
		}
		return []string{"ALTER TABLE scheduler_job_definition DROP INDEX idx_due, ADD INDEX idx_due (" + columns + ")"}
	}
	common = append(common,
		variant{name: "due index (due_time, partition_id)", setup: dueIndex("due_time, partition_id")},
		variant{name: "due index on a column that stays", setup: dueIndex("partition_id")},
	)
	if lite {
		return append(common, sqliteForms()...)
	}
	return append(common, mysqlForms()...)
}

// bareF is shape F of the first measurements: the design document's columns,
// two indexes, bare statements.
const bareColumns = "id, job_id, node_id, status, claim_at, token, start_time, create_time, update_time"

func bareInsert(ctx context.Context, tx dbtest.Tx, rows []*entity.Execution, per int) error {
	for part := range slices.Chunk(rows, per) {
		args := make([]any, 0, len(part)*9)
		for _, e := range part {
			at := sqlvalue.TimeText(e.DueTime)
			args = append(args, e.ID, e.JobID, e.NodeID, "RUNNING", nil, 1, at, at, at)
		}
		mark := "(?,?,?,?,?,?,?,?,?)"
		_, err := tx.Exec(ctx, "INSERT INTO bare ("+bareColumns+") VALUES "+strings.Repeat(mark+",", len(part)-1)+mark,
			args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func sortedRows(rows []*entity.Execution) []*entity.Execution {
	slices.SortFunc(rows, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

// mysqlForms are other forms of the statements, and bare shape F.
func mysqlForms() []variant {
	return []variant{
		{name: "finish by guarded upsert", finish: upsertFinish},
		{name: "finish by JSON_TABLE", finish: jsonFinish},
		{
			name: "bare shape F",
			setup: []string{`CREATE TABLE bare (id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, job_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, node_id VARCHAR(50) NOT NULL, shard_id VARCHAR(50), status VARCHAR(20) NOT NULL,
				claim_at DATETIME(3), token BIGINT, start_time DATETIME(3), end_time DATETIME(3), duration BIGINT, retry_count INT DEFAULT 0, error_message TEXT, result TEXT,
				create_time DATETIME(3) NOT NULL, update_time DATETIME(3) NOT NULL, KEY (job_id), KEY (claim_at, id)) ENGINE=InnoDB`},
			insert: func(ctx context.Context, tx dbtest.Tx, rows []*entity.Execution) error {
				return bareInsert(ctx, tx, sortedRows(rows), 500)
			},
			finish: bareFinishMySQL,
		},
	}
}

func sortedFinishes(rows []repository.Finish) []repository.Finish {
	slices.SortFunc(rows, func(a, b repository.Finish) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

func bareFinishMySQL(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error {
	var b strings.Builder
	var args []any
	b.WriteString("UPDATE bare e JOIN (")
	for i, f := range sortedFinishes(rows) {
		if i == 0 {
			b.WriteString("SELECT CAST(? AS CHAR(50) CHARACTER SET ascii) COLLATE ascii_bin AS id, ? AS ent, ? AS dur")
		} else {
			b.WriteString(" UNION ALL SELECT ?,?,?")
		}
		args = append(args, f.ID, sqlvalue.TimeText(f.EndTime), f.Duration.Milliseconds())
	}
	b.WriteString(") v ON v.id = e.id SET e.status = 'SUCCESS', e.end_time = v.ent, e.duration = v.dur, e.update_time = " +
		"v.ent WHERE e.status = 'RUNNING' AND e.token = 1")
	_, err := tx.Exec(ctx, b.String(), args...)
	return err
}

func upsertFinish(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error {
	var b strings.Builder
	var args []any
	b.WriteString(`INSERT INTO scheduler_job_execution (id, job_id, fire_key, trigger_type, create_time, status, reason, start_time, end_time, duration,
		progress, error_message, result, node_id, epoch, token, update_time) VALUES `)
	for i, f := range sortedFinishes(rows) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("(?,'','','','2000-01-01',?,?,?,?,?,?,?,?,?,?,?,?)")
		args = append(args, f.ID, string(f.Status), nil, sqlvalue.TimeText(f.StartTime), sqlvalue.TimeText(f.EndTime),
			f.Duration.Milliseconds(),
			f.Progress, nil, nil, f.NodeID, f.Epoch, f.Token, sqlvalue.TimeText(f.EndTime))
	}
	// claim_key and status are set last: the guards read the old values.
	held := "status = 'RUNNING' AND token = VALUES(token) AND epoch = VALUES(epoch) AND node_id = VALUES(node_id)"
	b.WriteString(" ON DUPLICATE KEY UPDATE ")
	for _, c := range []string{
		"reason", "start_time", "end_time", "duration", "progress", "error_message", "result",
		"update_time",
	} {
		b.WriteString(c + " = IF(" + held + ", VALUES(" + c + "), " + c + "), ")
	}
	b.WriteString("claim_key = IF(" + held + ", NULL, claim_key), status = IF(" + held + ", VALUES(status), status)")
	_, err := tx.Exec(ctx, b.String(), args...)
	return err
}

func jsonFinish(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error {
	list := make([][]any, 0, len(rows))
	for _, f := range sortedFinishes(rows) {
		list = append(list, []any{
			f.ID, f.Status, sqlvalue.TimeText(f.StartTime), sqlvalue.TimeText(f.EndTime),
			f.Duration.Milliseconds(), f.Progress, f.NodeID, f.Epoch, f.Token,
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE scheduler_job_execution e JOIN JSON_TABLE(?, '$[*]' COLUMNS (
		id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]', st VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin PATH '$[1]', stt DATETIME(3) PATH '$[2]', ent DATETIME(3) PATH '$[3]', dur BIGINT PATH '$[4]',
		prg INT PATH '$[5]', nod VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin PATH '$[6]', epo BIGINT PATH '$[7]', tok BIGINT PATH '$[8]')) v ON v.id = e.id
		SET e.status = v.st, e.start_time = v.stt, e.end_time = v.ent, e.duration = v.dur, e.progress = v.prg, e.claim_key = NULL, e.update_time = v.ent
		WHERE e.status = 'RUNNING' AND e.node_id = v.nod AND e.epoch = v.epo AND e.token = v.tok`, string(text))
	return err
}

// sqliteForms are other forms of the statements on SQLite, and bare shape F.
func sqliteForms() []variant {
	return []variant{
		{
			name: "bare shape F",
			setup: []string{
				`CREATE TABLE bare (id TEXT PRIMARY KEY, job_id TEXT NOT NULL, node_id TEXT NOT NULL, shard_id TEXT, status TEXT NOT NULL, claim_at TEXT, token INTEGER,
				start_time TEXT, end_time TEXT, duration INTEGER, retry_count INTEGER DEFAULT 0, error_message TEXT, result TEXT, create_time TEXT NOT NULL, update_time TEXT NOT NULL)`,
				"CREATE INDEX bare_job ON bare (job_id)", "CREATE INDEX bare_claim ON bare (claim_at, id)",
			},
			insert: func(ctx context.Context, tx dbtest.Tx, rows []*entity.Execution) error {
				return bareInsert(ctx, tx, sortedRows(rows), 1)
			},
			finish: func(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error {
				for _, f := range sortedFinishes(rows) {
					end := sqlvalue.TimeText(f.EndTime)
					_, err := tx.Exec(ctx,
						"UPDATE bare SET status = 'SUCCESS', end_time = ?, duration = ?, update_time = ? WHERE id = ? AND status = "+
							"'RUNNING' AND token = 1",
						end, f.Duration.Milliseconds(), end, f.ID)
					if err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			name: "execution table without rowid",
			setup: []string{
				"DROP TABLE scheduler_job_execution",
				"CREATE TABLE scheduler_job_execution (" + sqliteExecutionColumns + ", PRIMARY KEY (id)) WITHOUT ROWID",
				"CREATE INDEX idx_execution_job ON scheduler_job_execution (job_id)",
				"CREATE INDEX idx_execution_claim ON scheduler_job_execution (claim_key) WHERE claim_key IS NOT NULL",
			},
		},
		{
			name: "job index without the id",
			setup: []string{
				"DROP INDEX idx_execution_job",
				"CREATE INDEX idx_execution_job ON scheduler_job_execution (job_id)",
			},
		},
		{name: "one run an INSERT", perInsert: 1},
		{name: "50 runs an INSERT", perInsert: 50},
		{name: "finish by one JSON argument", finish: sqliteJSONFinish},
	}
}

const sqliteExecutionColumns = `id TEXT NOT NULL, job_id TEXT NOT NULL, node_id TEXT NOT NULL DEFAULT '', shard_id TEXT, status TEXT NOT NULL DEFAULT 'WAITING', start_time TEXT, end_time TEXT,
	duration INTEGER, retry_count INTEGER NOT NULL DEFAULT 0, error_message TEXT, result TEXT, create_time TEXT NOT NULL, update_time TEXT NOT NULL, fire_key TEXT NOT NULL,
	scheduled_time TEXT, due_time TEXT, trigger_type TEXT NOT NULL, job_version INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 5, params TEXT, reason TEXT,
	epoch INTEGER NOT NULL DEFAULT 0, token INTEGER NOT NULL DEFAULT 0, job_fence INTEGER, attempt INTEGER NOT NULL DEFAULT 0, node_losses INTEGER, claim_key TEXT, start_deadline TEXT,
	cancel_requested INTEGER, progress INTEGER, checkpoint TEXT, retry_of TEXT, root_id TEXT, skip_from TEXT, skip_to TEXT, skip_count INTEGER, skip_at_least INTEGER`

func sqliteJSONFinish(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error {
	list := make([][]any, 0, len(rows))
	for _, f := range sortedFinishes(rows) {
		list = append(list, []any{
			f.ID, f.Status, sqlvalue.TimeText(f.StartTime), sqlvalue.TimeText(f.EndTime),
			f.Duration.Milliseconds(), f.Progress, f.NodeID, f.Epoch, f.Token,
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE scheduler_job_execution SET status = v.value ->> 1, start_time = v.value ->> 2, end_time = v.value ->> 3, duration = v.value ->> 4,
		progress = v.value ->> 5, claim_key = NULL, update_time = v.value ->> 3 FROM json_each(?) AS v
		WHERE scheduler_job_execution.id = v.value ->> 0 AND status = 'RUNNING' AND node_id = v.value ->> 6 AND epoch = v.value ->> 7 AND token = v.value ->> 8`, string(text))
	return err
}
