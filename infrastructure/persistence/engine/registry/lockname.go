package registry

import (
	"context"
	"crypto/sha1" //nolint:gosec // a name, not a secret: releases of one cluster must make the same one
	"database/sql/driver"
	"encoding/hex"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// lockName is the lock of a node's id: one process at a time holds it, and it
// dies with that process's connection. It holds the database's name, because
// locks are the server's; both are hashed to stay below the limit of 64
// characters. They are hashed here, because MySQL 9.7 knows no SHA1() any more;
// the bytes are those that SHA1(CONCAT(DATABASE(), ':', id)) gave to former releases.
func lockName(database, node string) string {
	sum := sha1.Sum([]byte(database + ":" + node)) //nolint:gosec // see above
	return "ps-" + hex.EncodeToString(sum[:])
}

// lockNameAt is lockName for the database of a connection, as the server writes it:
// it may fold the letters of the DSN.
func lockNameAt(ctx context.Context, c sqlvalue.Querier, node string) (string, error) {
	databases, err := sqlvalue.ReadAll(ctx, c, "SELECT DATABASE()", nil, sqlvalue.ScanText)
	if err != nil || len(databases) != 1 {
		return "", errors.Join(err, driver.ErrBadConn)
	}
	return lockName(databases[0], node), nil
}
