// Package answer stands between the product and the driver of its store, and answers statements in place of the store.
// A proxy of connections can only make a store away or slow, and cannot give unknown answers.
package answer

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
)

// Place is where an answer is given.
type Place int

// The places.
const (
	// Statement answers a statement that Rule.Match names, which is not executed.
	Statement Place = iota
	// InsteadOfCommit answers a COMMIT, and the transaction is rolled back.
	InsteadOfCommit
	// AfterCommit answers a COMMIT that was done.
	AfterCommit
)

// Rule says which statements are answered, and by what.
type Rule struct {
	Place Place
	// Match picks statements by their text and arguments; of commits, by any statement of
	// their transaction. Nil is all that write.
	Match func(query string, args []driver.NamedValue) bool
	// Skip lets so many through first. Times bounds the answers; 0 is no bound.
	Skip, Times int
	Err         error
}

// Wire stands before the rules: on the way of each statement of each connection. Safe for concurrent use.
type Wire interface {
	// Statement passes a statement on, or answers it by an error. It may wait first. rollback ends the transaction of
	// the session at the store.
	Statement(ctx context.Context, s *Session, query string, pass, rollback func() error) error
	// Closed hears that a session is over, with the transaction that it may have had.
	Closed(s *Session)
}

// Session is a connection as a Wire sees it. One statement runs at a time.
type Session struct {
	// Writes: a write transaction is open. The Wire keeps it.
	Writes bool
}

// Store answers by its rule. Safe for concurrent use.
type Store struct {
	// Wire is nil where nothing stands before the rules; it is set before the first connection.
	Wire Wire

	mu    sync.Mutex
	rule  *Rule
	met   int
	given int
}

// Set begins to answer by a rule, nil by none, and counts anew.
func (s *Store) Set(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rule, s.met, s.given = r, 0, 0
}

// Disturbed tells whether a rule holds.
func (s *Store) Disturbed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rule != nil
}

// Given is how many answers were given since Set.
func (s *Store) Given() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// Connect is sqldb.Config's.
func (s *Store) Connect(c driver.Connector) *sql.DB { return sql.OpenDB(&connector{c, s}) }

// Of matches statements that hold a text among their arguments.
func Of(text string) func(string, []driver.NamedValue) bool {
	return func(query string, args []driver.NamedValue) bool {
		for _, a := range args {
			if strings.Contains(fmt.Sprint(a.Value), text) && writes(query, nil) {
				return true
			}
		}
		return false
	}
}

// OfBytes is Of for an id that is stored as bytes.
func OfBytes(id []byte) func(string, []driver.NamedValue) bool {
	return func(query string, args []driver.NamedValue) bool {
		for _, a := range args {
			if held, ok := a.Value.([]byte); ok && bytes.Contains(held, id) && writes(query, nil) {
				return true
			}
		}
		return false
	}
}

func writes(query string, _ []driver.NamedValue) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToUpper(query)), " ")
	return word == "INSERT" || word == "UPDATE" || word == "DELETE" || word == "REPLACE"
}

// asked decides about a statement of a connection. touched says whether the transaction
// has had a statement that matches.
func (s *Store) asked(query string, args []driver.NamedValue, touched *bool) (Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rule == nil {
		return 0, nil
	}
	match := s.rule.Match
	if match == nil {
		match = writes
	}
	switch ends := strings.ToUpper(query); {
	case ends == "COMMIT" && (s.rule.Place == Statement || !*touched):
		return 0, nil
	case ends == "COMMIT":
	case match(query, args):
		if *touched = true; s.rule.Place != Statement {
			return 0, nil
		}
	default:
		return 0, nil
	}
	if s.rule.Times > 0 && s.given >= s.rule.Times {
		return 0, nil
	}
	if s.met++; s.met <= s.rule.Skip {
		return 0, nil
	}
	s.given++
	return s.rule.Place, s.rule.Err
}

// over runs one statement by way of the Wire.
func over[T any](ctx context.Context, c *conn, query string, args []driver.NamedValue, run, rollback func() (T, error),
) (out T, err error) {
	if c.store.Wire == nil {
		return ruled(c, query, args, run, rollback)
	}
	err = c.store.Wire.Statement(ctx, &c.session, query, func() (err error) {
		out, err = ruled(c, query, args, run, rollback)
		return err
	}, func() error {
		_, err := rollback()
		return err
	})
	return out, err
}

// ruled runs one statement, or answers it.
func ruled[T any](c *conn, query string, args []driver.NamedValue, run, rollback func() (T, error)) (T, error) {
	place, err := c.store.asked(query, args, &c.touched)
	if q := strings.ToUpper(query); q == "COMMIT" || q == "ROLLBACK" {
		c.touched = false
	}
	if err == nil {
		return run()
	}
	switch place {
	case InsteadOfCommit:
		_, _ = rollback()
	case AfterCommit:
		if out, failed := run(); failed != nil {
			return out, failed
		}
	}
	var none T
	return none, err
}

type connector struct {
	driver.Connector
	store *Store
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner, store: c.store}, nil
}
