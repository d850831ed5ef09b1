package rig

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ScratchDatabase makes a database for one run alone on a MySQL server, and
// returns its DSN and how to remove it.
func ScratchDatabase(ctx context.Context, server string) (dsn string, drop func() error, err error) {
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		return "", nil, err
	}
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("ps_test_crash_%d", time.Now().UnixNano())
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	cfg.DBName = name
	return cfg.FormatDSN(), func() error {
		_, err := db.ExecContext(context.Background(), "DROP DATABASE "+name)
		return errors.Join(err, db.Close())
	}, nil
}
