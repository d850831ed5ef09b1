// Package storecopy copies a store: that of a standalone into a MySQL or MariaDB store, each store into a backup, and a
// backup into an empty store (docs/restore.md).
package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Progress is what Copy tells of a table: Done of Rows rows so far.
type Progress struct {
	Table      string
	Done, Rows int64
	// Verified: the rows of both sides were counted and summed up, and agree.
	Verified bool
}

// Result is what a copy found that people must know of.
type Result struct {
	Rows int64 `json:"rows"`
	// Secrets is the number of sealed secrets: their key is not in the store.
	Secrets int64 `json:"secrets"`
	// Nodes are those that still hold runs, because they did not stop in order.
	Nodes []string `json:"nodes"`
}

// Copy puts everything of an SQLite store into a MySQL or MariaDB store, which
// it migrates first. Nobody may use either of them meanwhile. A target that
// holds data is refused, unless it is what an interrupted copy left: that is
// thrown away. At the end every table is read back and compared with its
// source; a copy that failed leaves a target that no server opens.
func Copy(ctx context.Context, from, to sqldb.Config, progress func(Progress)) (r Result, err error) {
	if from.Driver != dialect.SQLite || to.Driver != dialect.MySQL {
		return r, fmt.Errorf("a store is copied from sqlite to mysql, not from %s to %s", from.Driver, to.Driver)
	}
	source, err := migrate.Open(ctx, from)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	ahead, err := source.Prepare(ctx, false)
	if err == nil && ahead {
		err = errors.New("its schema is newer than this program; copy it with the program that made it")
	}
	if err != nil {
		return r, fmt.Errorf("the store to copy: %w", err)
	}
	return into(ctx, source.DB(), to, progress)
}

// into fills an empty MySQL or MariaDB store with the rows of a SQLite store whose schema is that of this program.
func into(ctx context.Context, from *sql.DB, to sqldb.Config, progress func(Progress)) (r Result, err error) {
	target, err := migrate.Open(ctx, to)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if _, err := target.Up(ctx); err != nil {
		return r, fmt.Errorf("the store to copy into: %w", err)
	}
	db, err := connect.MySQL(ctx, to.DSN, 2, nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c := &copier{from: from, to: db, progress: progress}
	err = target.Exclusively(ctx, func() error { return c.run(ctx) })
	return c.result, err
}

// copier is one copy.
type copier struct {
	from, to *sql.DB
	progress func(Progress)
	tables   []table
	result   Result
}

func (c *copier) run(ctx context.Context) error {
	if err := c.plan(ctx); err != nil {
		return err
	}
	unfinished, err := migrate.CopyUnfinished(ctx, c.to)
	if err != nil {
		return err
	}
	if !unfinished {
		if err := c.refuseData(ctx); err != nil {
			return err
		}
		if _, err := c.to.ExecContext(ctx,
			"CREATE TABLE "+migrate.UnfinishedCopy+" (id INT NOT NULL PRIMARY KEY)"); err != nil {
			return fmt.Errorf("mark the copy as unfinished: %w", err)
		}
	}
	for _, t := range c.tables { // the migrations have filled one, and a former copy some
		if _, err := c.to.ExecContext(ctx, "TRUNCATE TABLE "+t.name); err != nil {
			return fmt.Errorf("empty %s: %w", t.name, err)
		}
	}
	for i := range c.tables {
		t := &c.tables[i]
		if err := t.copy(ctx, c.from, c.to, func(done int64) error {
			c.progress(Progress{Table: t.name, Done: done, Rows: t.rows})
			return nil
		}); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
		c.result.Rows += t.read.rows
	}
	for _, t := range c.tables {
		if err := t.verify(ctx, c.to); err != nil {
			return err
		}
		c.progress(Progress{Table: t.name, Done: t.rows, Rows: t.rows, Verified: true})
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	if err := c.demand(ctx); err != nil {
		return err
	}
	if _, err := c.to.ExecContext(ctx, "DROP TABLE "+migrate.UnfinishedCopy); err != nil {
		return fmt.Errorf("mark the copy as finished: %w", err)
	}
	return nil
}

// demand has the target refuse the programs that the source refuses: they do not know that it stands by.
func (c *copier) demand(ctx context.Context) error {
	var oldest int64
	err := c.from.QueryRowContext(ctx, "SELECT min_version FROM "+migrate.CompatTable+" WHERE id = 1").Scan(&oldest)
	if err == nil {
		_, err = c.to.ExecContext(ctx, "UPDATE "+migrate.CompatTable+" SET min_version = GREATEST(min_version, ?) WHERE id = 1",
			oldest)
	}
	if err != nil {
		return fmt.Errorf("write down which programs the schema serves: %w", err)
	}
	return nil
}

// plan lists the tables, which must be the same on both sides.
func (c *copier) plan(ctx context.Context) error {
	names, err := tablesOf(ctx, c.from)
	if err != nil {
		return err
	}
	for _, name := range names {
		t, err := planTable(ctx, c.from, c.to, name)
		if err == nil {
			err = t.count(ctx, c.from)
		}
		if err != nil {
			return err
		}
		c.tables = append(c.tables, t)
	}
	return nil
}

// refuseData is an error when the target holds anything but what its
// migrations put there.
func (c *copier) refuseData(ctx context.Context) error {
	for _, t := range c.tables {
		where := ""
		if t.name == "scheduler_job_group" {
			where = " WHERE name <> ''"
		}
		found, err := sqlvalue.Texts(ctx, c.to, "SELECT 'x' FROM "+t.name+where+" LIMIT 1")
		if err != nil {
			return fmt.Errorf("look into %s: %w", t.name, err)
		}
		if len(found) > 0 {
			return fmt.Errorf("the store to copy into holds data (%s); name an empty database", t.name)
		}
	}
	return nil
}

// look finds what people must know of.
func (c *copier) look(ctx context.Context) (err error) {
	if err := c.from.QueryRowContext(ctx, "SELECT COUNT(*) FROM scheduler_secret").Scan(&c.result.Secrets); err != nil {
		return fmt.Errorf("count the secrets: %w", err)
	}
	c.result.Nodes, err = holders(ctx, c.from)
	return err
}

// holders are the nodes that hold runs.
func holders(ctx context.Context, lite reader) ([]string, error) {
	held := entity.HeldSpan()
	nodes, err := sqlvalue.Texts(ctx, lite,
		"SELECT DISTINCT node_id FROM scheduler_job_execution WHERE claim_key >= ? AND claim_key < ? ORDER BY node_id",
		string(held.Lo), string(held.Hi))
	if err != nil {
		return nil, fmt.Errorf("read which nodes hold runs: %w", err)
	}
	return nodes, nil
}
