package sqldb

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// DemandSchema makes the schema refuse programs that are older than a schema version, because what the transaction
// stores means something to them that is wrong. It locks the row of the demand. known reports whether it was demanded
// before.
func (c *Conn) DemandSchema(ctx context.Context, version int64) (known bool, err error) {
	if _, err := c.Exec(ctx, "schema.demand.add", "INSERT INTO scheduler_schema_compat (id, min_version) VALUES (1, ?)"+
		c.Dialect.OnDuplicateKeep("id"), version); err != nil {
		return false, err
	}
	oldest, _, err := First(ctx, c, "schema.demand.lock", "SELECT min_version FROM scheduler_schema_compat WHERE id = 1"+
		c.Dialect.ForUpdate, nil, sqlvalue.ScanInt)
	if err != nil || oldest >= version {
		return true, err
	}
	_, err = c.Exec(ctx, "schema.demand", "UPDATE scheduler_schema_compat SET min_version = ? WHERE id = 1 AND "+
		"min_version < ?", version, version)
	return false, err
}
