package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// scratch makes and drops databases on the server of the DSN.
type scratch struct {
	cfg *mysql.Config
	db  *sql.DB
}

func newScratch() (*scratch, error) {
	cfg, err := mysql.ParseDSN(os.Getenv(envDSN))
	if err != nil {
		return nil, err
	}
	admin := cfg.Clone()
	admin.DBName, admin.MultiStatements = "", true
	db, err := sql.Open("mysql", admin.FormatDSN())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // USE and SET are for the next statement
	return &scratch{cfg: cfg, db: db}, nil
}

func (s *scratch) exec(ctx context.Context, statement string) error {
	_, err := s.db.ExecContext(ctx, statement)
	return err
}

// create makes an empty database.
func (s *scratch) create(ctx context.Context) (name string, cfg persistence.Config, err error) {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		return "", cfg, err
	}
	name = "ps_test_" + hex.EncodeToString(b)
	return name, s.config(name), s.exec(ctx, "CREATE DATABASE "+name)
}

// config is that of a store in a database.
func (s *scratch) config(name string) persistence.Config {
	own := s.cfg.Clone()
	own.DBName = name
	return persistence.Config{Config: sqldb.Config{Driver: "mysql", DSN: own.FormatDSN()}, AutoMigrate: true}
}

func (s *scratch) drop(ctx context.Context, name string) error {
	return s.exec(ctx, "DROP DATABASE "+name)
}

// MySQL is the configuration of a scratch database without tables, which is
// dropped at the end of the test.
func MySQL(t testing.TB) persistence.Config {
	t.Helper()
	s, err := newScratch()
	require.NoError(t, err)
	name, cfg, err := s.create(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(s.drop(context.Background(), name), s.db.Close())) })
	return cfg
}

// Migrated is MySQL with the schema in it. The migrations run once in a process;
// each database is made from what they left, or is a spare one (see Reuse).
func Migrated(t testing.TB) persistence.Config {
	t.Helper()
	script, err := mysqlTemplate()
	require.NoError(t, err)
	s, err := newScratch()
	require.NoError(t, err)
	ctx := context.Background()
	name, ok := spare.take()
	cfg := s.config(name)
	if !ok {
		name, cfg, err = s.create(ctx)
		require.NoError(t, err)
		require.NoError(t, s.exec(ctx, "USE "+name+";\n"+script.text()))
	}
	t.Cleanup(func() { require.NoError(t, errors.Join(s.leave(ctx, name, script), s.db.Close())) })
	return cfg
}

// mysqlTemplate is the script that makes an empty, migrated store.
var mysqlTemplate = sync.OnceValues(func() (made script, err error) {
	data, err := shared("server", func() ([]byte, error) {
		made, err := migrated()
		if err != nil {
			return nil, err
		}
		return json.Marshal(made)
	})
	if err != nil {
		return nil, err
	}
	return made, json.Unmarshal(data, &made)
})

// migrated runs the migrations in a database of their own.
func migrated() (made script, err error) {
	ctx := context.Background()
	s, err := newScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	name, cfg, err := s.create(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(ctx, name)) }()
	store, err := persistence.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return s.dump(ctx, name)
}

// script makes a database, table by table.
type script []tableScript

// tableScript makes a table; Rows is empty where it has none.
type tableScript struct{ Name, Create, Rows string }

func (s script) text() string {
	var text strings.Builder
	for _, table := range s {
		text.WriteString(table.Create + table.Rows)
	}
	return text.String()
}

// dump is the script of a database.
func (s *scratch) dump(ctx context.Context, name string) (made script, err error) {
	tables, err := s.texts(ctx, "SHOW TABLES FROM "+name, 0)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		full := name + "." + table
		text, err := s.texts(ctx, "SHOW CREATE TABLE "+full, 1)
		if err != nil {
			return nil, err
		}
		columns, err := s.texts(ctx, "SHOW COLUMNS FROM "+full, 0)
		if err != nil {
			return nil, err
		}
		row := "CONCAT('(', CONCAT_WS(',', QUOTE(" + strings.Join(columns, "), QUOTE(") + ")), ')')"
		rows, err := s.texts(ctx, "SELECT "+row+" FROM "+full, 0)
		if err != nil {
			return nil, err
		}
		next := tableScript{Name: table, Create: text[0] + ";\n"}
		if len(rows) > 0 {
			next.Rows = fmt.Sprintf("INSERT INTO %s VALUES %s;\n", table, strings.Join(rows, ","))
		}
		made = append(made, next)
	}
	return made, nil
}

// texts is one column of what a query returns.
func (s *scratch) texts(ctx context.Context, query string, column int) (all []string, err error) {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close(), rows.Err()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, into := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, string(cells[column]))
	}
	return all, nil
}
