package storecopy

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Info is what a backup says of itself.
type Info struct {
	// TakenAt is the moment of which it holds the store, by the store's clock.
	TakenAt time.Time `json:"takenAt"`
	By      string    `json:"by"`
	// Schema is the version of its tables.
	Schema int64 `json:"schema"`
	Rows   int64 `json:"rows"`
	// Keys are the ids of the keys that sealed its secrets. No key is in it.
	Keys []string `json:"keys"`
	// Without names what was left out: logs, history.
	Without []string `json:"without"`
	// Nodes are those that held runs.
	Nodes []string `json:"nodes"`
	// Shape is a sum of the definitions of its tables, indexes and triggers.
	Shape string `json:"shape"`
}

// The tables that make a store a backup. A restored store does not have them.
const (
	infoTable = "backup_info"
	sumTable  = "backup_table"
)

// standBy makes the file a store that stands by, also for programs that do not know standby.
func standBy(ctx context.Context, to *sql.DB, taken time.Time, by string) error {
	for statement, args := range map[string][]any{
		"INSERT INTO scheduler_store_state (id, mode, reason, changed_by, since) VALUES (1, ?, ?, ?, ?)" +
			dialect.NewSQLite().OnDuplicateSet("id", "mode", "reason", "changed_by", "since"): {
			string(entity.StoreStandby), "a backup of " + clock.Text(taken), by, sqlvalue.TimeArg(taken),
		},
		"UPDATE " + migrate.CompatTable + " SET min_version = MAX(min_version, ?)": {entity.StandbySchema},
	} {
		if _, err := to.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("have the backup stand by: %w", err)
		}
	}
	return nil
}

// sealed reads which keys sealed what a store holds.
const sealed = `SELECT key_id FROM scheduler_secret UNION SELECT key_id FROM scheduler_alert_setting
	UNION SELECT key_id FROM scheduler_cluster_key UNION SELECT key_id FROM scheduler_run_token`

// describe writes what the backup is, and the sums by which an altered one is known.
func describe(ctx context.Context, b *backup) (info Info, err error) {
	info = Info{
		TakenAt: b.source.taken, By: b.options.By, Schema: b.schema, Keys: []string{}, Without: []string{}, Nodes: []string{},
	}
	info.Without = append(info.Without, b.options.names()...)
	keys, err := sqlvalue.Texts(ctx, b.to, "SELECT key_id FROM ("+sealed+") WHERE key_id <> '' ORDER BY 1")
	if err != nil {
		return info, fmt.Errorf("read the keys of secrets: %w", err)
	}
	info.Keys = append(info.Keys, keys...)
	nodes, err := holders(ctx, b.to)
	if err != nil {
		return info, err
	}
	info.Nodes = append(info.Nodes, nodes...)
	for _, statement := range []string{
		"CREATE TABLE " + infoTable + " (info TEXT NOT NULL, sum TEXT NOT NULL)",
		"CREATE TABLE " + sumTable + " (name TEXT NOT NULL PRIMARY KEY, rows INTEGER NOT NULL, sum TEXT NOT NULL)",
	} {
		if _, err := b.to.ExecContext(ctx, statement); err != nil {
			return info, fmt.Errorf("describe the backup: %w", err)
		}
	}
	if info.Shape, err = shape(ctx, b.to); err != nil {
		return info, err
	}
	all := sha256.New()
	tables, err := b.marked(ctx)
	if err != nil {
		return info, err
	}
	for i := range tables {
		t := &tables[i]
		info.Rows += t.read.rows
		if _, err := b.to.ExecContext(ctx, "INSERT INTO "+sumTable+" (name, rows, sum) VALUES (?, ?, ?)", t.name, t.read.rows,
			t.read.text()); err != nil {
			return info, fmt.Errorf("describe %s: %w", t.name, err)
		}
		_, _ = fmt.Fprintln(all, t.name, t.read.rows, t.read.text())
	}
	text, err := json.Marshal(info)
	if err != nil {
		return info, err
	}
	_, _ = all.Write(text)
	_, err = b.to.ExecContext(ctx, "INSERT INTO "+infoTable+" (info, sum) VALUES (?, ?)", string(text),
		hex.EncodeToString(all.Sum(nil)))
	return info, err
}

// marked are the tables with their sums, after the backup was marked; those that tell about the schema are among them.
func (b *backup) marked(ctx context.Context) ([]table, error) {
	tables := b.tables
	for _, name := range []string{migrate.CompatTable, migrate.SchemaTable} {
		t, err := planTable(ctx, b.to, nil, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	for i := range tables {
		t := &tables[i]
		switch t.name {
		case "scheduler_store_state", migrate.CompatTable, migrate.SchemaTable:
			var err error
			if t.read, err = t.plain().sum(ctx, b.to); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(tables, func(a, b table) int { return strings.Compare(a.name, b.name) })
	return tables, nil
}

// shape adds up how the tables of a store, and what belongs to them, are defined.
func shape(ctx context.Context, db *sql.DB) (string, error) {
	parts, err := sqlvalue.Texts(ctx, db, "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_master "+
		"WHERE tbl_name NOT IN (?, ?) ORDER BY 1", infoTable, sumTable)
	if err != nil {
		return "", fmt.Errorf("read the definitions of the tables: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// recorded is what a backup says of one of its tables.
type recorded struct {
	name string
	rows int64
	sum  string
}

// readInfo reads what a backup says of itself, and of its tables.
func readInfo(ctx context.Context, db *sql.DB) (info Info, tables []recorded, err error) {
	var text, sum string
	if err := db.QueryRowContext(ctx, "SELECT info, sum FROM "+infoTable).Scan(&text, &sum); err != nil {
		return info, nil, fmt.Errorf("%w (%v)", errNoBackup, err) //nolint:errorlint // one line
	}
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return info, nil, errors.Join(errAltered, err)
	}
	all := sha256.New()
	tables, err = sqlvalue.ReadAll(ctx, db, "SELECT name, rows, sum FROM "+sumTable+" ORDER BY name", nil,
		func(rows *sql.Rows) (t recorded, err error) {
			err = rows.Scan(&t.name, &t.rows, &t.sum)
			_, _ = fmt.Fprintln(all, t.name, t.rows, t.sum)
			return t, err
		})
	if err != nil {
		return info, nil, errors.Join(errNoBackup, err)
	}
	_, _ = all.Write([]byte(text))
	if hex.EncodeToString(all.Sum(nil)) != sum {
		return info, nil, errAltered
	}
	return info, tables, nil
}

var (
	errNoBackup = errors.New("it is no backup, or not a whole one; `platform-scheduler store backup` writes one")
	errAltered  = errors.New("it is not as it was written; use another backup")
)
