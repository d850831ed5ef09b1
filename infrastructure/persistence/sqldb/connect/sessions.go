package connect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
)

// maxSessions bounds the sessions that are told of a node.
const maxSessions = 256

// sessions are the ids that a server gave to the connections of this process,
// so that whoever takes this node's work over can end them (engine rule 11).
// Safe for concurrent use.
type sessions struct {
	mu   sync.Mutex
	open map[int64]int
}

func newSessions() *sessions { return &sessions{open: map[int64]int{}} }

// list is the ids in ascending order, at most maxSessions of them.
func (s *sessions) list() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]int64, 0, len(s.open))
	for id := range s.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[:min(len(ids), maxSessions)]
}

func (s *sessions) add(id int64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] += n; s.open[id] <= 0 {
		delete(s.open, id)
	}
}

// noted is a connector whose connections are among the sessions.
type noted struct {
	driver.Connector
	sessions *sessions
}

// Connect implements driver.Connector.
func (n noted) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	session, ok := c.(session)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("a connection of an unknown kind: %T", c)
	}
	id, err := idOf(ctx, session)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	n.sessions.add(id, 1)
	return &notedSession{session: session, leave: sync.OnceFunc(func() { n.sessions.add(id, -1) })}, nil
}

// session is all that a connection of the driver can do.
type session interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type notedSession struct {
	session
	leave func()
}

// Close implements driver.Conn.
func (s *notedSession) Close() error {
	s.leave()
	return s.session.Close()
}

// idOf asks which id the server gave the connection.
func idOf(ctx context.Context, s session) (int64, error) {
	rows, err := s.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return 0, err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	if err == nil {
		err = rows.Close()
	} else {
		err = errors.Join(err, rows.Close())
	}
	switch {
	case errors.Is(err, io.EOF):
		return 0, driver.ErrBadConn
	case err != nil:
		return 0, err
	}
	switch v := value[0].(type) {
	case int64:
		return v, nil
	case uint64:
		return int64(v), nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	default:
		return 0, fmt.Errorf("read the id of a connection from %T", v)
	}
}
