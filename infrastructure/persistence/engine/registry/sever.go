package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// errKillDenied is what a server says to an account that may not end a session.
const errKillDenied = 1095

// Sever ends the sessions of a node that is DOWN, so that locks which it holds,
// frozen inside of a transaction, go (engine rule 11). It does nothing unless
// server and database are those that the node's row names, and the row is still as
// it was seen: a copy of the store holds the rows of nodes that work on the
// original, on the same server perhaps. A session that has ended already is no error; a missing right is.
func (r *Nodes) Sever(ctx context.Context, n entity.Node) (ended int, err error) {
	if r.s.Server == nil || len(n.Life.Sessions) == 0 {
		return 0, nil
	}
	err = r.onServer(ctx, n, func(c *sql.Conn) error {
		still, err := sqlvalue.ReadAll(ctx, c,
			"SELECT COUNT(*) FROM scheduler_node_registry WHERE id = ? AND epoch = ? AND status = 'DOWN'", []any{n.ID, n.Epoch},
			sqlvalue.ScanInt)
		if err != nil || len(still) != 1 || still[0] == 0 {
			return err
		}
		for _, id := range n.Life.Sessions {
			_, err := c.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", id))
			var server *mysql.MySQLError
			switch {
			case err == nil:
				ended++
			case errors.As(err, &server) && server.Number == errKillDenied:
				return fmt.Errorf("the store's account may not end sessions (KILL): %w", err)
			case !errors.As(err, &server):
				return err
			}
		}
		return nil
	})
	return ended, err
}

// LockFree reports that nobody holds the lock of the node's id for the process
// that published it: its connection to the store has ended. known is false where
// that cannot be told: another server, another database, whose locks have other
// names, or a row that names no session.
func (r *Nodes) LockFree(ctx context.Context, n entity.Node) (free, known bool, err error) {
	if r.s.Server == nil || n.Life.LockSession == 0 {
		return false, false, nil
	}
	err = r.onServer(ctx, n, func(c *sql.Conn) error {
		name, err := lockNameAt(ctx, c, n.ID)
		if err != nil {
			return err
		}
		held, err := sqlvalue.ReadAll(ctx, c, "SELECT COALESCE(IS_USED_LOCK(?), 0)", []any{name}, sqlvalue.ScanInt)
		if err != nil || len(held) != 1 {
			return err
		}
		free, known = held[0] != n.Life.LockSession, true
		return nil
	})
	return free, known, err
}

// onServer calls do with a connection to the server and the database that the node's
// row names; it is not called where that is another one, or where the row does not say.
func (r *Nodes) onServer(ctx context.Context, n entity.Node, do func(c *sql.Conn) error) error {
	c, err := r.s.Server.Side.Conn(ctx)
	if err != nil {
		return r.s.Dialect.Unavailable(err)
	}
	defer func() { _ = c.Close() }()
	server, err := connect.ServerOf(ctx, c)
	if err != nil || !connect.SameServer(server, n.Life.Server) {
		return err
	}
	database, err := connect.DatabaseOf(ctx, c)
	if err != nil || database == "" || database != n.Life.Database {
		return err
	}
	return do(c)
}
