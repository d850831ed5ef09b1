package dbtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// spares are migrated databases that tests have left.
type spares struct {
	mu    sync.Mutex
	kept  bool
	names []string
}

var spare spares

// Reuse lets the tests of a process hand on their databases: to make and to drop one takes a
// server longer than most tests. A TestMain calls it, and drop at its end.
func Reuse() (drop func() error) {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	spare.kept = true
	return func() (err error) {
		for name, ok := spare.take(); ok; name, ok = spare.take() {
			s, failed := newScratch()
			if failed != nil {
				return failed
			}
			err = errors.Join(err, s.drop(context.Background(), name), s.db.Close())
		}
		return err
	}
}

func (s *spares) take() (name string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) == 0 {
		return "", false
	}
	name = s.names[len(s.names)-1]
	s.names = s.names[:len(s.names)-1]
	return name, true
}

func (s *spares) put(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name)
}

func (s *spares) keeps() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// leave keeps a database for the next test as the migrations left it, or drops it.
func (s *scratch) leave(ctx context.Context, name string, template script) error {
	if !spare.keeps() {
		return s.drop(ctx, name)
	}
	if again, err := s.reset(ctx, name, template); err != nil || !slices.Equal(again, template) {
		return s.drop(ctx, name)
	}
	spare.put(name)
	return nil
}

// reset empties the tables that a test has written to, and returns what there is then.
func (s *scratch) reset(ctx context.Context, name string, template script) (script, error) {
	// MySQL itself would answer from its cache, which MariaDB has not.
	if err := s.exec(ctx, "SET @x = 0 /*!80000 , SESSION information_schema_stats_expiry = 0 */"); err != nil {
		return nil, err
	}
	// To truncate a table takes as long as to make it, and it alone resets what the server knows of many rows.
	written, err := s.texts(ctx, "SELECT CONCAT(IF(table_rows > 1000 OR auto_increment > 1, 'TRUNCATE TABLE ', "+
		"'DELETE FROM '), table_name) FROM information_schema.tables WHERE update_time IS NOT NULL AND table_schema = '"+
		name+"'", 0)
	if err != nil {
		return nil, err
	}
	var statements strings.Builder
	statements.WriteString("USE " + name + ";\n" + strings.Join(written, ";\n") + ";\n")
	for _, table := range template {
		if table.Rows != "" {
			statements.WriteString("DELETE FROM " + table.Name + ";\n" + table.Rows)
		}
	}
	if err := s.exec(ctx, statements.String()); err != nil {
		return nil, err
	}
	return s.dump(ctx, name)
}
