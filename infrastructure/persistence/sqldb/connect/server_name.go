package connect

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// startSlack is how far two readings of a server's start may be apart, in
// seconds.
const startSlack = 2

// ServerName is a server, as it calls itself.
type ServerName struct{ name string }

// Known reports that the server was asked.
func (s *ServerName) Known() bool { return s.name != "" }

// Ask learns the name of the server at the other end.
func (s *ServerName) Ask(ctx context.Context, c sqlvalue.Querier) error {
	vars, err := pairs(ctx, c,
		"SHOW VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'hostname', 'port', 'datadir')")
	if err != nil {
		return fmt.Errorf("ask which server this is: %w", err)
	}
	s.name = vars["server_uuid"] // MySQL
	if s.name == "" {
		s.name = vars["server_uid"] // MariaDB from 10.5.26, 10.6.19, 10.11.9, 11.4.3 on
	}
	if s.name == "" {
		s.name = vars["hostname"] + ":" + vars["port"] + ":" + vars["datadir"]
	}
	s.name = s.name[:min(len(s.name), 120)]
	return nil
}

// AskStart gives the name with the second in which the server started: ids of
// sessions and named locks are those of one life of one server. The two readings
// are of the server's one clock, a moment apart: hence startSlack.
func (s *ServerName) AskStart(ctx context.Context, c sqlvalue.Querier) (string, error) {
	uptime, err := pairs(ctx, c, "SHOW GLOBAL STATUS LIKE 'Uptime'")
	if err != nil {
		return "", fmt.Errorf("ask since when the server runs: %w", err)
	}
	up, err := strconv.ParseInt(uptime["uptime"], 10, 64)
	if err != nil {
		return "", fmt.Errorf("read the uptime %q: %w", uptime["uptime"], err)
	}
	now, err := sqlvalue.ReadAll(ctx, c, "SELECT UNIX_TIMESTAMP()", nil, sqlvalue.ScanInt)
	if err != nil || len(now) != 1 {
		return "", fmt.Errorf("ask the server's time: %w", errors.Join(err, driver.ErrBadConn))
	}
	return s.name + "@" + strconv.FormatInt(now[0]-up, 10), nil
}

// ServerOf is the name and start of the server at the other end.
func ServerOf(ctx context.Context, c sqlvalue.Querier) (string, error) {
	var s ServerName
	if err := s.Ask(ctx, c); err != nil {
		return "", err
	}
	return s.AskStart(ctx, c)
}

// maxDatabase bounds the name of a database, in bytes; a server takes 64 characters.
const maxDatabase = 150

// DatabaseOf is the database that a connection uses, as the registry names it.
func DatabaseOf(ctx context.Context, c sqlvalue.Querier) (string, error) {
	names, err := sqlvalue.ReadAll(ctx, c, "SELECT COALESCE(DATABASE(), '')", nil, sqlvalue.ScanText)
	if err != nil || len(names) != 1 {
		return "", fmt.Errorf("ask which database this is: %w", errors.Join(err, driver.ErrBadConn))
	}
	if name := names[0]; len(name) <= maxDatabase {
		return name, nil
	}
	sum := sha256.Sum256([]byte(names[0]))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// pairs reads rows of a name and a value; names in lower case.
func pairs(ctx context.Context, c sqlvalue.Querier, query string) (map[string]string, error) {
	out := map[string]string{}
	_, err := sqlvalue.ReadAll(ctx, c, query, nil, func(rows *sql.Rows) (struct{}, error) {
		var name, value string
		err := rows.Scan(&name, &value)
		out[strings.ToLower(name)] = value
		return struct{}{}, err
	})
	return out, err
}

// SameServer reports whether two names are of one life of one server.
func SameServer(a, b string) bool {
	nameA, startA, okA := strings.Cut(a, "@")
	nameB, startB, okB := strings.Cut(b, "@")
	if !okA || !okB || nameA != nameB {
		return false
	}
	from, errA := strconv.ParseInt(startA, 10, 64)
	to, errB := strconv.ParseInt(startB, 10, 64)
	return errA == nil && errB == nil && max(from-to, to-from) <= startSlack
}
