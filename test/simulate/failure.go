package simulate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the store whose errors are provoked
)

// failure is an error of the store, and what the product makes of it.
type failure struct {
	class string
	err   error
	// row: what is about one job is answered by it, and not everything.
	row bool
	// lies: as the answer to everything it would be a lie that no store tells, such as that each row is there already.
	lies bool
}

// lost is what a connection says that has ended.
var lost = failure{class: "BROKEN", err: errGone}

func (f failure) kind() Kind {
	if f.row {
		return Kind(forRow + f.class)
	}
	return Kind(forAll + f.class)
}

func (f failure) allowed() bool { return f.row || !f.lies }

// provoke has SQLite itself say each class of errors.
func provoke(dir string) ([]failure, error) {
	p := &provoker{dir: dir}
	p.add("RETRY", false, p.busy)
	p.add("AWAY, no room", false, p.full)
	p.add("AWAY, read-only", false, p.readOnly)
	p.add("UNKNOWN", false, p.garbage)
	p.all = append(p.all, lost)
	p.add("POISON", true, func(ctx context.Context) error {
		return p.statements(ctx, "CREATE TABLE t (a INTEGER CHECK (a > 0))", "INSERT INTO t VALUES (-1)")
	})
	p.add("OTHER", true, func(ctx context.Context) error { return p.statements(ctx, "SELECT nothing FROM nowhere") })
	return p.all, p.failed
}

type provoker struct {
	dir    string
	files  int
	all    []failure
	failed error
}

func (p *provoker) add(class string, lies bool, provoke func(ctx context.Context) error) {
	err := provoke(context.Background())
	if err == nil {
		p.failed = errors.Join(p.failed, fmt.Errorf("SQLite does not answer by %s any more", class))
		return
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	p.all = append(p.all, failure{class: class, err: err, lies: lies})
}

// file is a new file.
func (p *provoker) file() string {
	p.files++
	return filepath.Join(p.dir, fmt.Sprintf("errors-%d.db", p.files))
}

// open opens a file; the pragmas are of each connection.
func (p *provoker) open(file, query string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+file+query)
}

func run(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *provoker) statements(ctx context.Context, statements ...string) error {
	db, err := p.open(p.file(), "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return run(ctx, db, statements...)
}

func (p *provoker) busy(ctx context.Context) error {
	file := p.file()
	first, err := p.open(file, "?_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { _ = first.Close() }()
	tx, err := first.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	second, err := p.open(file, "?_pragma=busy_timeout(0)")
	if err != nil {
		return err
	}
	defer func() { _ = second.Close() }()
	return run(ctx, second, "BEGIN IMMEDIATE")
}

func (p *provoker) full(ctx context.Context) error {
	db, err := p.open(p.file(), "?_pragma=max_page_count(2)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	return run(ctx, db, "CREATE TABLE t (a)", "INSERT INTO t VALUES (randomblob(100000))")
}

func (p *provoker) readOnly(ctx context.Context) error {
	file := p.file()
	db, err := p.open(file, "")
	if err != nil {
		return err
	}
	if err := errors.Join(run(ctx, db, "CREATE TABLE t (a)"), db.Close()); err != nil {
		return nil // it is told as one that is missing
	}
	if db, err = p.open(file, "?mode=ro"); err != nil {
		return nil
	}
	defer func() { _ = db.Close() }()
	return run(ctx, db, "INSERT INTO t VALUES (1)")
}

func (p *provoker) garbage(ctx context.Context) error {
	file := p.file()
	const text = "this is no file of a database, whatever it is called, nor ever was, and longer than a header"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil
	}
	db, err := p.open(file, "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return run(ctx, db, "CREATE TABLE t (a)")
}
