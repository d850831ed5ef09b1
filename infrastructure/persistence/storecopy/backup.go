package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// Options say what a backup leaves out, and how quick it may be.
type Options struct {
	// WithoutLogs leaves out what runs wrote; WithoutHistory that, and everything that has ended.
	WithoutLogs, WithoutHistory bool
	// Fast takes a whole processor; else the backup keeps within share of one.
	Fast bool
	// By is who asked for it, at most entity.MaxStoreBy characters.
	By string
	// Clock measures the share.
	Clock clock.Clock
}

// maxAge is how long a backup may read: as long, a server keeps all that was changed meanwhile.
const maxAge = 2 * time.Hour

// partSuffix ends the name of a file that is not whole.
const partSuffix = ".part"

// Backup writes what a store holds at one moment into a new file at path, a SQLite store that stands by. Servers may
// use the store meanwhile. The file is read back and compared before it gets its name: whatever stops the backup, there
// is either the whole file or none. progress is told of each batch.
func Backup(ctx context.Context, from sqldb.Config, path string, o Options,
	progress func(Progress),
) (_ Info, err error) {
	if _, err := os.Stat(path); err == nil {
		return Info{}, fmt.Errorf("%s is there; name a file that is not: %w", path, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Info{}, err
	}
	schema, err := ownSchema(ctx, from)
	if err != nil {
		return Info{}, fmt.Errorf("the store to back up: %w", err)
	}
	s, err := openSnapshot(ctx, from)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	part := path + partSuffix
	b := &backup{
		options: o, schema: schema, source: s, progress: progress, pace: newPace(o.Clock, o.Fast),
	}
	info, err := b.write(ctx, part)
	if err != nil {
		_ = removeFile(part) // the first error says why
		return Info{}, err
	}
	return info, publish(part, path)
}

// ownSchema is the version of a store's schema, which must be that of this program.
func ownSchema(ctx context.Context, of sqldb.Config) (version int64, err error) {
	schema, err := migrate.ReadSchema(ctx, of)
	switch {
	case err != nil:
	case schema.Current == 0:
		err = errors.New("it has no tables; name the store of the servers, by store.dsn (PS_STORE_DSN) or dataDir " +
			"(PS_DATA_DIR)")
	case schema.Current != schema.Target:
		err = fmt.Errorf("its schema is version %d and this program's is %d; back it up with the program that its servers "+
			"run", schema.Current, schema.Target)
	}
	return schema.Current, err
}

// backup is one backup on its way.
type backup struct {
	options  Options
	schema   int64
	source   *snapshot
	progress func(Progress)
	pace     *pace
	to       *sql.DB
	tables   []table
}

func (b *backup) write(ctx context.Context, part string) (info Info, err error) {
	if err := removeFile(part); err != nil {
		return Info{}, fmt.Errorf("the folder for the backup cannot be written: %w", err)
	}
	m, err := migrate.Open(ctx, sqldb.Config{Driver: dialect.SQLite, Path: part})
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if _, err := m.Up(ctx); err != nil {
		return Info{}, err
	}
	b.to = m.DB()
	// The file counts only once it has its name, so that nothing of it need survive before.
	for _, pragma := range []string{"journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"} {
		if _, err := b.to.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return Info{}, fmt.Errorf("prepare %s: %w", part, err)
		}
	}
	if err := b.read(ctx); err != nil {
		return Info{}, err
	}
	if err := b.source.close(ctx); err != nil { // the server need not keep old rows any longer
		return Info{}, err
	}
	return b.finish(ctx)
}

// read copies the tables, within the time that a server may keep for it what is changed meanwhile.
func (b *backup) read(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, maxAge)
	defer cancel()
	err := b.plan(bounded)
	if err == nil {
		err = b.fill(bounded)
	}
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("reading took longer than %s; be quicker with --fast, or leave out logs: %w", maxAge, err)
	}
	return err
}

// plan lists the tables with what is left out of them.
func (b *backup) plan(ctx context.Context) error {
	names, err := tablesOf(ctx, b.to)
	if err != nil {
		return err
	}
	switch shown, err := b.source.schema(ctx); {
	case err != nil:
		return err
	case shown != b.schema:
		return fmt.Errorf("the schema was changed from version %d to %d just now; begin again", b.schema, shown)
	}
	var server reader
	if b.source.server {
		server = b.source.conn
	}
	for _, name := range names {
		t, err := planTable(ctx, b.to, server, name)
		if err != nil {
			return err
		}
		t.where = left(name, b.options)
		if err := b.source.count(ctx, &t); err != nil {
			return fmt.Errorf("count the rows of %s: %w", t.name, err)
		}
		b.tables = append(b.tables, t)
	}
	return nil
}

func (b *backup) fill(ctx context.Context) error {
	for i := range b.tables {
		t := &b.tables[i]
		if _, err := b.to.ExecContext(ctx, "DELETE FROM "+t.name); err != nil { // the migrations have filled one
			return fmt.Errorf("empty %s: %w", t.name, err)
		}
		if err := b.source.apart(ctx, func() error {
			return t.copy(ctx, b.source.conn, b.to, func(done int64) error {
				b.progress(Progress{Table: t.name, Done: done, Rows: max(t.rows, done)})
				return b.pace.wait(ctx)
			})
		}); err != nil {
			return fmt.Errorf("back up %s: %w", t.name, err)
		}
	}
	return nil
}

// finish compares the file with what was read, and marks it as a backup.
func (b *backup) finish(ctx context.Context) (info Info, err error) {
	for i := range b.tables {
		t := &b.tables[i]
		if t.read, err = t.compare(ctx, b.to, b.pace); err != nil {
			return Info{}, err
		}
		if err := t.sound(ctx, b.to); err != nil {
			return Info{}, err
		}
		if err := b.pace.wait(ctx); err != nil {
			return Info{}, err
		}
		b.progress(Progress{Table: t.name, Done: t.read.rows, Rows: t.read.rows, Verified: true})
	}
	if err := standBy(ctx, b.to, b.source.taken, b.options.By); err != nil {
		return Info{}, err
	}
	return describe(ctx, b)
}

// publish gives a whole file its name, so that it survives a power cut.
func publish(part, path string) error {
	if err := syncFile(part); err != nil {
		return errors.Join(fmt.Errorf("write %s to the disk: %w", part, err), removeFile(part))
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(fmt.Errorf("name the file: %w", err), removeFile(part))
	}
	return errors.Join(removeFile(part), syncFile(filepath.Dir(path)))
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeFile removes a SQLite file that is not whole, and what lies beside it.
func removeFile(path string) error {
	var errs []error
	for _, end := range []string{"", "-wal", "-shm", "-journal", "-migrate"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
