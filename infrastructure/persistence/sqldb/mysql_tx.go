package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// rollbackBound is how long a rollback may take before the connection is
// dropped, upon which the server rolls back by itself.
const rollbackBound = time.Second

// errNoAnswer: the time of a COMMIT ran out after it was sent. It wraps no
// error of a context, which would say that it was not sent.
var errNoAnswer = errors.New("the server has not answered in time")

// mysqlTx is one transaction on a connection of its own. Unlike those of
// database/sql, its COMMIT has the bound of its caller: on a connection of
// which nothing comes back it would last until the driver gives up.
type mysqlTx struct{ *sql.Conn }

func beginMySQL(ctx context.Context, pool *sql.DB) (transaction, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &mysqlTx{conn}
	// The sessions are READ COMMITTED, see mysqlSession.
	if _, err := t.ExecContext(ctx, "START TRANSACTION"); err != nil {
		t.drop()
		return nil, err
	}
	return t, nil
}

// Commit makes the transaction durable. It heeds the deadline of ctx; a caller
// that is gone does not cut it off.
func (t *mysqlTx) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		t.drop()
		return err
	}
	bounded, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		bounded, cancel = context.WithDeadline(bounded, deadline)
	}
	defer cancel()
	_, err := t.ExecContext(bounded, "COMMIT")
	switch {
	case err == nil:
		_ = t.Close()
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		err = errNoAnswer
	}
	t.drop()
	return err
}

// Rollback undoes the transaction.
func (t *mysqlTx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackBound)
	defer cancel()
	_, err := t.ExecContext(ctx, "ROLLBACK")
	if err != nil {
		t.drop()
		return err
	}
	return t.Close()
}

// drop closes the connection instead of giving it back, and so ends whatever
// the server holds for it.
func (t *mysqlTx) drop() {
	_ = t.Raw(func(any) error { return driver.ErrBadConn })
	_ = t.Close()
}
