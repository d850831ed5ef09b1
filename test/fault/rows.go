package fault

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql" // the nodes' store

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// lockedRows is how many jobs somebody else holds.
const lockedRows = 12

// lockRows holds rows of some jobs in a transaction, as a hand at the database
// does. The store may go away meanwhile, and the locks with it.
func lockRows(ctx context.Context, dsn string, span time.Duration) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for until := time.Now().Add(answerBound); ; {
		if err = holdRows(ctx, db, span); err == nil || time.Now().After(until) || !rig.Sleep(ctx, again) {
			return err
		}
	}
}

func holdRows(ctx context.Context, db *sql.DB, span time.Duration) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx,
		"SELECT id FROM scheduler_job_definition WHERE deleted = 0 ORDER BY RAND() LIMIT ? FOR UPDATE SKIP LOCKED",
		lockedRows)
	if err != nil {
		return fmt.Errorf("lock rows of jobs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	held := 0
	for rows.Next() {
		held++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if held == 0 {
		return fmt.Errorf("no row of a job could be locked")
	}
	rig.Sleep(ctx, span)
	return nil
}

// leftBound is how long the sweeps may take to give up what a lost transaction has left. It is a
// minute of age, and two of their turns.
const leftBound = 90 * time.Second

// leftovers waits until no fire holds a place, and returns those that still do.
func leftovers(ctx context.Context, dsn string) (left []history.Leftover, err error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	for until := time.Now().Add(leftBound); ; {
		left = nil
		for of, table := range map[string]string{"job": "scheduler_live_fire", "group": "scheduler_group_place"} {
			more, err := leftIn(ctx, db, of, table)
			if err != nil {
				return nil, err
			}
			left = append(left, more...)
		}
		if len(left) == 0 || time.Now().After(until) || !rig.Sleep(ctx, again) {
			return left, nil
		}
	}
}

// leftIn reads the fires of one table; of names what they hold a place of.
func leftIn(ctx context.Context, db *sql.DB, of, table string) (left []history.Leftover, err error) {
	rows, err := db.QueryContext(ctx, "SELECT job_id, fire_key FROM "+table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		l := history.Leftover{Of: of}
		if err := rows.Scan(&l.Job, &l.Fire); err != nil {
			return nil, err
		}
		left = append(left, l)
	}
	return left, rows.Err()
}
