// Package sql holds the numbered migrations of the two stores. Both numberings
// say the same: migration n of one store makes what migration n of the other
// makes, so that "schema version n" means one thing.
package sql

import "embed"

// MySQL are the migrations for MySQL 8 and MariaDB 10.6 and later. MySQL cannot roll
// back a change of the schema. So in each file what cannot run twice stands last, as
// one statement.
//
//go:embed mysql/*.sql
var MySQL embed.FS

// SQLite are the migrations for SQLite.
//
//go:embed sqlite/*.sql
var SQLite embed.FS
