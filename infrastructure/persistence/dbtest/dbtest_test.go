package dbtest

import (
	"context"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// A database that is made from the template has the tables, the rows and the counters that
// the migrations left, and opening it changes none of them.
func TestATemplateIsWhatTheMigrationsLeft(t *testing.T) {
	NeedMySQL(t)
	left, err := mysqlTemplate()
	require.NoError(t, err)
	require.Contains(t, left, "CREATE TABLE `scheduler_job_execution`")
	require.Contains(t, left, "INSERT INTO scheduler_schema_version VALUES ('1','0',")
	cfg := Migrated(t)
	Open(t, cfg)
	dsn, err := mysql.ParseDSN(cfg.DSN)
	require.NoError(t, err)
	s, err := newScratch()
	require.NoError(t, err)
	defer s.db.Close()
	made, err := s.dump(context.Background(), dsn.DBName)
	require.NoError(t, err)
	require.Equal(t, left, made)
}
