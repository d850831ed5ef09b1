//go:build linux

package restore_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
)

var megabytes = flag.Int("restore.megabytes", 0, "measure what a backup of so large a store costs the runs beside it")

// The test compares the lateness of runs before and beside a backup.
func TestTheCostOfABackup(t *testing.T) {
	if *megabytes == 0 {
		return // make backup-cost says how large
	}
	t.Run("SQLite", func(t *testing.T) { cost(t, "") })
	if dbtest.HasMySQL(t) {
		t.Run("MySQL", func(t *testing.T) { cost(t, dbtest.MySQL(t).DSN) })
	}
}

func cost(t *testing.T, dsn string) {
	t.Helper()
	p := build(t)
	if p == nil {
		return
	}
	data := t.TempDir()
	p = p.on(data)
	if dsn != "" {
		p = p.on(data, "PS_STORE_DRIVER=mysql", "PS_STORE_DSN="+dsn)
	}
	client, stop := p.server()
	var jobs []string
	for i := range 200 {
		job, err := client.Create(t.Context(), map[string]any{
			"name": fmt.Sprint("tick ", i), "jobType": "CUSTOM", "jobClass": "noop",
			"schedule": map[string]any{"cronExpression": "* * * * * ?"},
		})
		require.NoError(t, err)
		jobs = append(jobs, job.ID)
	}
	runs(t, client, jobs[0], 2)
	stop()
	db := opened(t, data, dsn)
	grow(t, db, dsn == "", *megabytes)
	client, _ = p.server()
	time.Sleep(20 * time.Second)

	calm := lateness(t, client, jobs, time.Minute)
	done := make(chan time.Duration, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		began := time.Now()
		if _, err := p.command("store", "backup", filepath.Join(data, "backups")); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		done <- time.Since(began)
	}()
	beside := lateness(t, client, jobs, time.Minute)
	t.Logf("lateness p50, p99: %s, %s without; %s, %s beside a backup of %d MB", calm[0], calm[1], beside[0], beside[1],
		*megabytes)
	t.Logf("the backup took %s", <-done)
	require.Less(t, beside[1], 2*calm[1]+10*time.Millisecond)
}

func opened(t *testing.T, data, dsn string) *sql.DB {
	t.Helper()
	var db *sql.DB
	var err error
	if dsn == "" {
		db, err = connect.SQLite(t.Context(), filepath.Join(data, datafolder.DatabaseFile), 1)
	} else {
		db, err = connect.MySQL(t.Context(), dsn, 1, nil)
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// grow copies an ended run until the store has so many megabytes: half of them runs, half of them logs.
func grow(t *testing.T, db *sql.DB, lite bool, mb int) {
	t.Helper()
	of := "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = " +
		"'scheduler_job_execution' ORDER BY ORDINAL_POSITION"
	number, text := "CONCAT('old-', LPAD(n.i, 12, '0'))", "REPEAT('line ', 12000)"
	if lite {
		of = "SELECT name FROM pragma_table_info('scheduler_job_execution')"
		number, text = "printf('old-%012d', n.i)", "replace(hex(zeroblob(6000)), '00', 'line ')"
	}
	columns, err := sqlvalue.Texts(t.Context(), db, of)
	require.NoError(t, err)
	values := make([]string, len(columns))
	for i, name := range columns {
		switch name {
		case "id", "fire_key":
			values[i] = number
		case "job_id":
			values[i] = "'old'"
		default:
			values[i] = "e." + name
		}
	}
	const piece = 1000
	series := "(WITH RECURSIVE s(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i FROM s) n"
	for from := 0; from < mb*1000; from += piece { // some 500 bytes each
		_, err := db.ExecContext(t.Context(), "INSERT INTO scheduler_job_execution ("+strings.Join(columns, ", ")+") SELECT "+
			strings.Join(values, ", ")+" FROM (SELECT * FROM scheduler_job_execution WHERE status = 'SUCCESS' AND id NOT LIKE "+
			"'old-%' LIMIT 1) e, "+fmt.Sprintf(series, from, from+piece-1))
		require.NoError(t, err)
	}
	for from := 0; from < mb*8; from += 100 { // 60 kB each
		_, err := db.ExecContext(t.Context(), "INSERT INTO scheduler_job_log (id, job_id, execution_id, log_type, content, "+
			"create_time, attempt, seq_from, seq_to) SELECT "+number+", 'old', "+number+", 'STDOUT', "+text+
			", '2026-01-01 00:00:00.000', 1, 1, 1 FROM "+fmt.Sprintf(series, from, from+99))
		require.NoError(t, err)
	}
}

// lateness is how late the runs of a span started, the median and the 99th percentile.
func lateness(t *testing.T, c *crash.Client, jobs []string, span time.Duration) [2]time.Duration {
	t.Helper()
	from := time.Now()
	time.Sleep(span)
	var late []time.Duration
	for _, job := range jobs {
		rows, err := c.Executions(t.Context(), job)
		require.NoError(t, err)
		for _, r := range rows {
			if r.ScheduledTime.After(from) && !r.StartTime.IsZero() {
				late = append(late, r.StartTime.Sub(r.ScheduledTime))
			}
		}
	}
	require.Greater(t, len(late), len(jobs)*int(span/time.Second)*9/10)
	slices.Sort(late)
	at := func(q float64) time.Duration { return late[int(math.Ceil(q*float64(len(late))))-1] }
	return [2]time.Duration{at(0.5), at(0.99)}
}
