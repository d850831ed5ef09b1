package sqldb

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// PurgeByID deletes at most limit rows of a table by their ids, which it finds
// before the transaction: rows only grow older.
func (s *Core) PurgeByID(ctx context.Context, name, table, where string, limit int,
	args ...any,
) (p repository.Purged, err error) {
	limit = min(limit, s.Dialect.MaxRows)
	ids, err := Collect(ctx, s.Pool, "retention.find-"+name,
		"SELECT id FROM "+table+" WHERE "+where+" ORDER BY id LIMIT ?", append(args, limit), sqlvalue.ScanText)
	if err != nil || len(ids) == 0 {
		return p, err
	}
	in, list := s.Dialect.In("id", ids)
	err = s.Change(ctx, repository.LaneRetention, "purge-"+name, func(ctx context.Context, c *Conn) error {
		n, err := c.Exec(ctx, "retention.purge-"+name, "DELETE FROM "+table+" WHERE "+in, list...)
		p.Deleted = int(n)
		return err
	})
	p.More = err == nil && len(ids) == limit
	p.Reached, _ = identity.TimeOf(ids[len(ids)-1])
	return p, err
}
