package rig_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// answering is a store behind a proxy that answers in its stead, with one table; direct is the way around it.
func answering(t *testing.T, interpolated bool) (p *rig.Proxy, db, direct *sql.DB) {
	t.Helper()
	dbtest.NeedMySQL(t)
	dsn, drop, err := rig.ScratchDatabase(t.Context(), os.Getenv("PS_TEST_MYSQL_DSN"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	cfg, err := mysql.ParseDSN(dsn)
	require.NoError(t, err)
	cfg.InterpolateParams = interpolated
	open := func(addr string) *sql.DB {
		cfg.Addr = addr
		db, err := sql.Open("mysql", cfg.FormatDSN())
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	direct = open(cfg.Addr)
	p, err = rig.NewStoreProxy(cfg.Addr)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	db = open(p.Addr())
	_, err = direct.ExecContext(t.Context(), "CREATE TABLE seen (id VARCHAR(40) PRIMARY KEY)")
	require.NoError(t, err)
	return p, db, direct
}

// add writes rows in one transaction.
func add(t *testing.T, db *sql.DB, ids ...string) error {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	for _, id := range ids {
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO seen (id) VALUES (?)", id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func has(t *testing.T, db *sql.DB, id string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM seen WHERE id = ?", id).Scan(&n))
	return n
}

// The client of the store is told what the rule says; the store has done what the place says, for texts with values
// and for prepared statements.
func TestTheProxyAnswersInTheSteadOfTheStore(t *testing.T) {
	for name, interpolated := range map[string]bool{"text": true, "prepared": false} {
		t.Run(name, func(t *testing.T) {
			p, db, direct := answering(t, interpolated)
			number := answer.Numbers()[0]
			for _, c := range []struct {
				id    string
				place answer.Place
				done  int
			}{
				{"before", answer.Statement, 0},
				{"instead", answer.InsteadOfCommit, 0},
				{"after", answer.AfterCommit, 1},
			} {
				p.Answer(&rig.Answers{Place: c.place, Number: number, Times: 1})
				var refused *mysql.MySQLError
				require.ErrorAs(t, add(t, db, c.id), &refused, c.id)
				require.Equal(t, number.Number, refused.Number)
				require.Equal(t, number.Text, refused.Message)
				require.Equal(t, c.done, has(t, direct, c.id), c.id)
				require.NoError(t, add(t, db, c.id+", again"), "it was answered once")
				require.Equal(t, 1, has(t, db, c.id+", again"), "the connection is as it was")

				p.Answer(&rig.Answers{Place: c.place, Number: number, Row: c.id + "-row"})
				require.NoError(t, add(t, db, c.id+"-other"), "another row is let through")
				for _, of := range []string{"", " again"} {
					require.ErrorAs(t, add(t, db, "beside"+of+c.id, c.id+"-row"+of), &refused)
				}
				require.NoError(t, add(t, db, c.id+"-another"))
				require.Equal(t, c.done, has(t, direct, "beside"+c.id))
				require.Equal(t, 2, p.Given())
			}
			p.Answer(nil)
			require.NoError(t, add(t, db, "last"))
			require.Equal(t, 9, p.Answered())
		})
	}
}
