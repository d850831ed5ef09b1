package registry

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// instanceWait is how long a start waits for the lock of a former process
// under the same id: the server frees it as soon as it sees that process's
// connection end.
const instanceWait = 5 * time.Second

// introduceAgain is how often a connection asks for the lock of its node's id
// that another one holds.
const introduceAgain = 2 * time.Second

// Beats are the way of one node's beats and looks to the store. On MySQL that is
// a connection which nothing else uses, and which holds the lock of the node's
// id; on SQLite it is the store's. Other statements go over the connections
// of the registry. Safe for concurrent use.
type Beats struct {
	*Nodes
	node string
	// each bounds a statement, dial a new connection.
	each, dial time.Duration

	mu   sync.Mutex
	db   *sql.DB
	conn *sql.Conn
	// life is what this connection adds to what the node publishes.
	life   entity.NodeLife
	server connect.ServerName
	// asked is when the lock was asked for last, in monotonic time.
	asked time.Duration
	// written is what the row says, for that epoch.
	written string
	epoch   int64
}

// NewBeats opens the way of a node's beats. A statement may take each, a new
// connection dial.
func NewBeats(nodes *Nodes, node string, each, dial time.Duration) (*Beats, error) {
	b := &Beats{Nodes: nodes, node: node, each: each, dial: dial}
	if nodes.s.Server == nil {
		return b, nil
	}
	var err error
	if b.db, err = nodes.s.Server.OpenDedicated(each, 2*instanceWait); err != nil {
		return nil, err
	}
	nodes.s.OnClose(func() error {
		_ = b.close() // the server may be gone: there is nothing to say good-bye to
		return nil
	})
	return b, nil
}

func (b *Beats) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	return b.db.Close()
}

// Hold makes sure that one process at a time runs as this node on this store: a
// second one is told so, by apperror.KindConflict. An SQLite file belongs to one
// process already, by the lock of its data folder.
func (b *Beats) Hold(ctx context.Context) error {
	if b.db == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, instanceWait+b.dial+b.each)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.connect(ctx)
	if err == nil {
		err = b.lock(ctx, instanceWait)
	}
	if err == nil {
		err = b.server.Ask(ctx, b.conn)
	}
	if err == nil {
		b.life.Server, err = b.server.AskStart(ctx, b.conn)
	}
	if err == nil {
		b.life.Database, err = connect.DatabaseOf(ctx, b.conn)
	}
	switch {
	case err != nil:
		b.drop()
		return b.s.Dialect.Unavailable(fmt.Errorf("hold the node id %s: %w", b.node, err))
	case b.life.LockSession == 0:
		return apperror.Conflict("node_id_taken",
			"another process runs as node %q on this store; stop it, or give this one another node.id (PS_NODE_ID)", b.node)
	}
	return nil
}

// connect dials where there is no connection.
func (b *Beats) connect(ctx context.Context) error {
	if b.conn != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, b.dial)
	defer cancel()
	c, err := b.db.Conn(bounded)
	if err != nil {
		return err
	}
	b.conn = c
	return nil
}

// lock takes the lock of the node's id, if that is free within wait.
func (b *Beats) lock(ctx context.Context, wait time.Duration) error {
	name, err := lockNameAt(ctx, b.conn, b.node)
	if err != nil {
		return err
	}
	ids, err := sqlvalue.ReadAll(ctx, b.conn, "SELECT CASE WHEN GET_LOCK(?, ?) = 1 THEN CONNECTION_ID() ELSE 0 END",
		[]any{name, int(wait.Seconds())}, sqlvalue.ScanInt)
	if err != nil || len(ids) != 1 {
		return errors.Join(err, driver.ErrBadConn)
	}
	b.life.LockSession = ids[0]
	return nil
}

// introduce takes the next step of what a connection must know of itself for
// others to judge its node by: one with each look, for beats must not wait for
// all of them where the store is slow.
func (b *Beats) introduce(ctx context.Context) (err error) {
	at := b.s.Clock.Monotonic()
	switch {
	case !b.server.Known():
		err = b.server.Ask(ctx, b.conn)
	case b.life.Server == "":
		b.life.Server, err = b.server.AskStart(ctx, b.conn)
	case b.life.Database == "":
		b.life.Database, err = connect.DatabaseOf(ctx, b.conn)
	case b.life.LockSession == 0 && (b.asked == 0 || at-b.asked > introduceAgain):
		b.asked = at
		err = b.lock(ctx, 0)
	}
	return err
}

// drop ends the connection, so that the server ends whatever it holds for it.
func (b *Beats) drop() {
	if b.conn == nil {
		return
	}
	_ = b.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = b.conn.Close()
	b.conn, b.life, b.server, b.written, b.asked = nil, entity.NodeLife{}, connect.ServerName{}, "", 0
}

// reach connects, and says in the words of callers why it could not.
func (b *Beats) reach(ctx context.Context) error {
	if err := b.connect(ctx); err != nil {
		return b.s.Dialect.Unavailable(fmt.Errorf("connect for a beat: %w", err))
	}
	return nil
}

// over runs a statement over the connection, which is dropped unless the server
// itself has answered.
func (b *Beats) over(ctx context.Context, do func(ctx context.Context, c *sqldb.Conn) error) error {
	if err := b.reach(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, b.each)
	defer cancel()
	err := do(bounded, b.s.ConnOver(b.conn))
	var server *mysql.MySQLError
	if err != nil && (!errors.As(err, &server) || b.s.Dialect.Kind(err) == dialect.Broken) {
		b.drop()
	}
	return err
}

// Connect implements repository.Nodes.
func (b *Beats) Connect(ctx context.Context) error {
	if b.db == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reach(ctx)
}

// Heartbeat implements repository.Nodes. The beat publishes the connection's
// own state when that has changed.
func (b *Beats) Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error) {
	if b.db == nil {
		return b.Nodes.Heartbeat(ctx, n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err = b.over(ctx, func(ctx context.Context, c *sqldb.Conn) error {
		sessions := sessionsText(b.s.Server.SessionIDs())
		now := fmt.Sprint(b.life.Server, " ", b.life.Database, " ", b.life.LockSession, " ", sessions)
		more, added := "", []any(nil)
		if now != b.written || n.Epoch != b.epoch {
			more, added = ", store_server = ?, store_database = ?, lock_session = ?, sessions = ?",
				[]any{b.life.Server, b.life.Database, b.life.LockSession, sessions}
		}
		query, args := beatStatement(c, n, more, added...)
		found, err := c.Exec(ctx, "node.heartbeat", query, args...)
		if ok = found == 1 && err == nil; ok {
			b.written, b.epoch = now, n.Epoch
		}
		return err
	})
	return ok, err
}

// viewRow is a row of the registry and the time of the look.
type viewRow struct {
	Row      nodeRow `gorm:"embedded"`
	StoreNow sqlvalue.DBTime
}

// View implements repository.Nodes: rows and time in one answer.
func (b *Beats) View(ctx context.Context) ([]entity.Node, time.Time, error) {
	if b.db == nil {
		return b.Nodes.View(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var rows []viewRow
	err := b.over(ctx, func(ctx context.Context, c *sqldb.Conn) error {
		moment, _ := c.Now()
		return c.GORM(ctx, "node.all").Table(nodeRow{}.TableName()).Select("*, " + moment + " AS store_now").Order("id").
			Find(&rows).Error
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := b.over(ctx, func(ctx context.Context, _ *sqldb.Conn) error { return b.introduce(ctx) }); err != nil {
		b.s.Log.Debug("the session of the beats could not be described", "error", err)
	}
	nodes, now := make([]entity.Node, 0, len(rows)), time.Time{}
	for _, row := range rows {
		nodes, now = append(nodes, row.Row.entity()), row.StoreNow.Time()
	}
	return sqldb.NoteUnread(b.s.Pool, nodes), now, nil
}

var _ repository.Nodes = (*Beats)(nil)
