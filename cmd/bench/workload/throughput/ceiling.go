package throughput

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

const (
	// BatchSize is the executions of one transaction of a bare program.
	BatchSize = 500
	// BareJobs are the jobs of a bare program.
	BareJobs = 20_000

	bareSpan = 4 * time.Second
)

// Bare lets so many workers of a bare program write batch after batch for a while. It returns the
// executions a second.
func Bare(b *rig.Bench, workers int, write func(worker, turn int) error) (float64, error) {
	var done, turn atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	at := b.Clock.Monotonic()
	for w := range workers {
		wg.Go(func() {
			for b.Clock.Monotonic()-at < bareSpan && errs[w] == nil {
				if errs[w] = write(w, int(turn.Add(1))); errs[w] == nil {
					done.Add(BatchSize)
				}
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / (b.Clock.Monotonic() - at).Seconds(), errors.Join(errs...)
}

// shapeF is a fixed program of bare SQL, in the form that is fastest on that store. For batches of
// 500 it inserts the executions and advances the jobs in one transaction. It completes them in
// another, each row with values of its own. It has two connections, one on SQLite, and two
// indexes: on the job, and on a claim column that is NULL.
func (b FlatOut) shapeF(ctx context.Context) (float64, error) {
	cfg, err := b.Scratch.Next(ctx)
	if err != nil {
		return 0, err
	}
	db, workers, err := openBare(cfg)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	if err := prepareShapeF(ctx, db, cfg.Store.Driver); err != nil {
		return 0, err
	}
	write := life(lifeSQLite)
	if cfg.Store.Driver == config.DriverMySQL {
		write = lifeMySQL
	}
	return Bare(b.Bench, workers, func(worker, turn int) error {
		return write(ctx, db, bareBatch(turn, worker, workers))
	})
}

// openBare opens a store as the product does: the same durability, and on
// SQLite one connection.
func openBare(cfg config.Config) (db *sql.DB, workers int, err error) {
	if cfg.Store.Driver == config.DriverMySQL {
		separator := "?"
		if strings.Contains(cfg.Store.DSN, "?") {
			separator = "&"
		}
		db, err = sql.Open("mysql", cfg.Store.DSN+separator+"interpolateParams=true")
		return db, 2, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, 0, err
	}
	db, err = sql.Open("sqlite",
		cfg.DataDir+"/bare.db?_pragma=journal_mode(WAL)&_pragma=synchronous("+cfg.Store.Synchronous+")&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, 1, err
}

func prepareShapeF(ctx context.Context, db *sql.DB, driver string) error {
	key, end := "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", " ENGINE=InnoDB"
	if driver != config.DriverMySQL {
		key, end = "TEXT", ""
	}
	for _, statement := range []string{
		"CREATE TABLE bare_job (id " + key + " PRIMARY KEY, name VARCHAR(100) NOT NULL, next_fire_time DATETIME)" + end,
		"CREATE TABLE bare_execution (id " + key + " PRIMARY KEY, job_id " + key + " NOT NULL, node_id VARCHAR(50) NOT " +
			"NULL, status VARCHAR(20) NOT NULL, " +
			"claim_at DATETIME, start_time DATETIME, end_time DATETIME, duration BIGINT, retry_count INT DEFAULT 0, token " +
			"BIGINT, " +
			"error_message TEXT, result TEXT, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL)" + end,
		"CREATE INDEX idx_bare_job ON bare_execution (job_id)",
		"CREATE INDEX idx_bare_claim ON bare_execution (claim_at, id)",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	for from := 0; from < BareJobs; from += BatchSize {
		args := make([]any, 0, 2*BatchSize)
		for i := from; i < from+BatchSize; i++ {
			args = append(args, bareJobID(i), fmt.Sprintf("bare %d", i))
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO bare_job (id, name) VALUES "+rows("(?,?)", BatchSize),
			args...); err != nil {
			return err
		}
	}
	return nil
}

func bareJobID(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", i) }

func rows(row string, n int) string { return strings.TrimSuffix(strings.Repeat(row+",", n), ",") }

// life writes the whole life of a batch.
type life func(ctx context.Context, db *sql.DB, batch []bareRow) error

// bareRow is one execution of the yardstick.
type bareRow struct {
	id, job          string
	fired, next, end string
	duration         int
	result           string
}

func bareBatch(turn, worker, workers int) []bareRow {
	per := BareJobs / workers
	at := time.Date(2026, 1, 1, 0, 0, turn, 0, time.UTC)
	batch := make([]bareRow, BatchSize)
	for i := range batch {
		batch[i] = bareRow{
			id: fmt.Sprintf("%012x-7000-8000-%012x", turn, i), job: bareJobID(worker*per + (turn*BatchSize+i)%per),
			fired: at.Format(time.DateTime), next: at.Add(time.Duration(i+60) * time.Second).Format(time.DateTime),
			end: at.Add(time.Duration(i) * time.Second).Format(time.DateTime), duration: i, result: fmt.Sprintf("result %d", i),
		}
	}
	return batch
}

const bareInsert = "INSERT INTO bare_execution (id, job_id, node_id, status, create_time, update_time) VALUES "

func bareInsertArgs(batch []bareRow) []any {
	args := make([]any, 0, 6*len(batch))
	for _, r := range batch {
		args = append(args, r.id, r.job, "node-1", "RUNNING", r.fired, r.fired)
	}
	return args
}

// lifeMySQL updates by guarded upserts.
func lifeMySQL(ctx context.Context, db *sql.DB, batch []bareRow) error {
	jobs, ends := make([]any, 0, 3*len(batch)), make([]any, 0, 9*len(batch))
	for _, r := range batch {
		jobs = append(jobs, r.job, "", r.next)
		ends = append(ends, r.id, r.job, "node-1", "SUCCESS", r.end, r.duration, r.result, r.fired, r.end)
	}
	err := inTransaction(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, bareInsert+rows("(?,?,?,?,?,?)", len(batch)), bareInsertArgs(batch)...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO bare_job (id, name, next_fire_time) VALUES "+rows("(?,?,?)", len(batch))+
			" ON DUPLICATE KEY UPDATE next_fire_time = VALUES(next_fire_time)", jobs...)
		return err
	})
	if err != nil {
		return err
	}
	return inTransaction(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			"INSERT INTO bare_execution (id, job_id, node_id, status, end_time, duration, result, create_time, update_time) "+
				"VALUES "+
				rows("(?,?,?,?,?,?,?,?,?)", len(batch))+" ON DUPLICATE KEY UPDATE end_time = IF(status = 'RUNNING', "+
				"VALUES(end_time), end_time), "+
				"duration = VALUES(duration), result = VALUES(result), update_time = VALUES(update_time), status = VALUES(status)",
			ends...)
		return err
	})
}

// lifeSQLite updates row by row with prepared statements.
func lifeSQLite(ctx context.Context, db *sql.DB, batch []bareRow) error {
	err := inTransaction(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, bareInsert+rows("(?,?,?,?,?,?)", len(batch)), bareInsertArgs(batch)...); err != nil {
			return err
		}
		stmt, err := tx.PrepareContext(ctx, "UPDATE bare_job SET next_fire_time = ? WHERE id = ?")
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }()
		for _, r := range batch {
			if _, err := stmt.ExecContext(ctx, r.next, r.job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return inTransaction(ctx, db, func(tx *sql.Tx) error {
		stmt, err := tx.PrepareContext(ctx,
			"UPDATE bare_execution SET status = 'SUCCESS', end_time = ?, duration = ?, result = ?, update_time = ? WHERE id = "+
				"? AND status = 'RUNNING'")
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }()
		for _, r := range batch {
			if _, err := stmt.ExecContext(ctx, r.end, r.duration, r.result, r.end, r.id); err != nil {
				return err
			}
		}
		return nil
	})
}

func inTransaction(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
