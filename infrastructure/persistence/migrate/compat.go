package migrate

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
)

const (
	// CompatTable holds which programs the schema serves.
	CompatTable = "scheduler_schema_compat"
	// oldestServed is the schema version of the oldest program that works with
	// the schema of this one. Migrations only add, so that it stays; one that
	// takes away or changes what older programs use raises it to its own number,
	// and its release cannot be rolled out node by node (docs/operations.md).
	oldestServed int64 = 31
)

// served checks that a schema newer than this program serves it. A schema that
// does not say is not trusted.
func (m *Migrator) served(ctx context.Context, current, target int64) error {
	oldest := current
	// The table may be missing: then the answer is no.
	_ = m.db.QueryRowContext(ctx, "SELECT min_version FROM "+CompatTable+" WHERE id = 1").Scan(&oldest)
	if oldest <= target {
		return nil
	}
	return connect.Misconfigured("the store's schema is version %d, newer than this program, which knows up to %d, and "+
		"serves programs from %d on; run a newer platform-scheduler, or restore a backup made before the upgrade",
		current, target, oldest)
}

// declare writes down which programs the schema serves, never fewer demands
// than were there.
func (m *Migrator) declare(ctx context.Context) error {
	var oldest int64
	if err := m.db.QueryRowContext(ctx, "SELECT min_version FROM "+CompatTable+" WHERE id = 1").
		Scan(&oldest); err == nil && oldest >= oldestServed {
		return nil
	}
	upsert := " ON CONFLICT (id) DO UPDATE SET min_version = MAX(min_version, excluded.min_version)"
	if m.dialect == goose.DialectMySQL {
		upsert = " ON DUPLICATE KEY UPDATE min_version = GREATEST(min_version, VALUES(min_version))"
	}
	if _, err := m.db.ExecContext(ctx, "INSERT INTO "+CompatTable+" (id, min_version) VALUES (1, ?)"+upsert,
		oldestServed); err != nil {
		return fmt.Errorf("write down which programs the schema serves: %w", err)
	}
	return nil
}
