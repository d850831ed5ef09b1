package rig

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"
)

// replicaWaits is how long a replica may take to have all that its primary has.
const replicaWaits = time.Minute

// StartPrimary starts a MariaDB that replicas may follow; see StartServer.
func StartPrimary(ctx context.Context, root, dir string, more ...string) (*Server, error) {
	s := newServer(root, dir, more...)
	s.env = inReplication(1)
	return s, s.start(ctx)
}

// inReplication are the settings of a server that takes part in a replication. The statements
// of this file are MariaDB's.
func inReplication(id int) []string {
	return []string{fmt.Sprintf("SERVER_ID=%d", id), "BINLOG=1", "SERVER=mariadb"}
}

// StartReplica starts a second MariaDB, which follows a primary from its first statement on, and takes the writes of
// the replication alone. The accounts of the primary come with them.
func StartReplica(ctx context.Context, root, dir string, primary *Server) (*Server, error) {
	s := newServer(root, dir)
	s.env = inReplication(2)
	if err := s.Up(ctx); err != nil {
		return s, err
	}
	from, err := mysql.ParseDSN(primary.admin)
	if err != nil {
		return s, err
	}
	host, port, err := net.SplitHostPort(from.Addr)
	if err != nil {
		return s, err
	}
	if s.DSN, err = at(primary.DSN, s.admin); err != nil {
		return s, err
	}
	return s, s.command(ctx, "SET GLOBAL read_only = ON", fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', "+
		"MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos, "+
		"MASTER_CONNECT_RETRY = 1", host, port, from.User, from.Passwd), "START SLAVE")
}

// at is the account and the database of one DSN on the server of another one.
func at(dsn, server string) (string, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "", err
	}
	other, err := mysql.ParseDSN(server)
	if err != nil {
		return "", err
	}
	cfg.Addr = other.Addr
	return cfg.FormatDSN(), nil
}

// CatchUp waits until a replica has applied all that its primary has written so far.
func (s *Server) CatchUp(ctx context.Context, primary *Server) error {
	position, err := primary.value(ctx, "SELECT @@gtid_binlog_pos")
	if err != nil {
		return err
	}
	reached, err := s.value(ctx, fmt.Sprintf("SELECT MASTER_GTID_WAIT('%s', %g)", position, replicaWaits.Seconds()))
	if err != nil || reached == "0" {
		return err
	}
	trouble, err := s.replicationError(ctx)
	return errors.Join(err, fmt.Errorf("the replica did not reach %s within %s; its error: %q", position, replicaWaits,
		trouble))
}

// replicationError is what ended the replication of a replica, if something did.
func (s *Server) replicationError(ctx context.Context) (text string, err error) {
	db, err := sql.Open("mysql", s.admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return "", errors.Join(err, rows.Err())
	}
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	err = rows.Scan(into...)
	for i, name := range names {
		if name == "Last_IO_Error" || name == "Last_SQL_Error" {
			text += values[i].String
		}
	}
	return text, errors.Join(err, rows.Err())
}

// Promote makes a primary of a replica: it follows nobody any more, and takes writes.
func (s *Server) Promote(ctx context.Context) error {
	return s.command(ctx, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF")
}

// Kills counts the statements KILL that clients have sent to a server since its start.
func (s *Server) Kills(ctx context.Context) (string, error) {
	return s.value(ctx, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_KILL'")
}

// value reads one value.
func (s *Server) value(ctx context.Context, query string) (string, error) {
	db, err := sql.Open("mysql", s.admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	var v sql.NullString
	err = db.QueryRowContext(ctx, query).Scan(&v)
	return v.String, err
}
