package rig

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Server is a private server that may be killed, run by test/services.
type Server struct {
	script, dir string
	names       []string
	// admin may do everything there.
	admin string
	// clock is the file that says by how much the store's clock is off; empty: it cannot be stepped.
	clock string
	// env are further settings of test/services.
	env []string
	// away: it was killed by the test, and not yet started again.
	away atomic.Bool
	// DSN is the store's, for an account that may do what it likes with that database and nothing
	// else. Redis is the address of the notifications, if asked for.
	DSN, Redis string
	// Kafka is the address of the broker, if asked for.
	Kafka string
}

var exported = regexp.MustCompile(`(?m)^export (\w+)='(.*)'$`)

// StartServer starts mysql, and what else is named, below dir; root is the
// folder of the sources.
func StartServer(ctx context.Context, root, dir string, more ...string) (*Server, error) {
	s := newServer(root, dir, more...)
	return s, s.start(ctx)
}

// StartServerWithClock starts a store whose clock can be stepped.
func StartServerWithClock(ctx context.Context, root, dir string, more ...string) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := newServer(root, dir, more...)
	s.clock = filepath.Join(dir, "clock")
	return s, s.start(ctx)
}

func newServer(root, dir string, more ...string) *Server {
	return &Server{
		script: filepath.Join(root, "test/services/services"), dir: dir, names: append([]string{"mysql"}, more...),
	}
}

func (s *Server) start(ctx context.Context) error {
	if err := s.Up(ctx); err != nil {
		return err
	}
	return s.addAccount(ctx)
}

// addAccount makes the account of the nodes: an admin's writes pass when the
// store is read-only.
func (s *Server) addAccount(ctx context.Context) error {
	cfg, err := mysql.ParseDSN(s.admin)
	if err != nil {
		return err
	}
	cfg.User, cfg.Passwd = "node", rand.Text()
	s.DSN = cfg.FormatDSN()
	return s.command(ctx, "CREATE USER 'node'@'%' IDENTIFIED BY '"+cfg.Passwd+"'",
		"GRANT ALL ON `"+cfg.DBName+"`.* TO 'node'@'%'")
}

// ReadOnly lets the store refuse all writes, or take them again.
func (s *Server) ReadOnly(ctx context.Context, on bool) error {
	return s.command(ctx, "SET GLOBAL read_only = "+map[bool]string{true: "ON", false: "OFF"}[on])
}

func (s *Server) command(ctx context.Context, statements ...string) error {
	db, err := sql.Open("mysql", s.admin)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Up starts what does not run, with its former data.
func (s *Server) Up(ctx context.Context) error {
	out, err := s.run(ctx, append([]string{"up", s.dir}, s.names...)...)
	s.away.Store(err != nil)
	for _, m := range exported.FindAllStringSubmatch(out, -1) {
		switch m[1] {
		case "MYSQL_DSN":
			s.admin = m[2]
		case "REDIS_ADDR":
			s.Redis = m[2]
		case "KAFKA_BROKERS":
			s.Kafka = m[2]
		}
	}
	return err
}

// Kill ends the store as kill -9 does.
func (s *Server) Kill(ctx context.Context) error {
	s.away.Store(true)
	_, err := s.run(ctx, "kill", s.dir, "mysql")
	return err
}

// KillBroker ends the broker as kill -9 does, StopBroker as an operator does. Up brings it back.
func (s *Server) KillBroker(ctx context.Context) error {
	_, err := s.run(ctx, "kill", s.dir, "kafka")
	return err
}

// StopBroker waits until the broker has ended.
func (s *Server) StopBroker(ctx context.Context) error {
	_, err := s.run(ctx, "stop", s.dir, "kafka")
	return err
}

// Fell reports whether the store has ended by itself: servers crash, too.
func (s *Server) Fell(ctx context.Context) bool {
	cfg, err := mysql.ParseDSN(s.admin)
	if err != nil || s.away.Load() {
		return false
	}
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", cfg.Addr)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED) && !s.away.Load()
}

// Freeze stops the store where it is, as SIGSTOP does; Thaw lets it go on.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(s.dir, "run", "mysql.pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

// clockSeen is how long the store may take to see that its clock was stepped.
const clockSeen = 10 * time.Second

// StepClock sets the store's clock off by d, 0 sets it right, and waits until the store says so.
func (s *Server) StepClock(ctx context.Context, d time.Duration) error {
	next := s.clock + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.3f\n", d.Seconds()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(next, s.clock); err != nil {
		return err
	}
	db, err := sql.Open("mysql", s.admin)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for until := time.Now().Add(clockSeen); ; {
		var ms int64
		err := db.QueryRowContext(ctx, "SELECT ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)").Scan(&ms)
		if off := time.Until(time.UnixMilli(ms)) - d; err == nil && off.Abs() < time.Second {
			return nil
		}
		if time.Now().After(until) || !Sleep(ctx, 100*time.Millisecond) {
			return fmt.Errorf("the store does not see its clock stepped by %s: %w", d, errors.Join(err, ctx.Err()))
		}
	}
}

// Down ends everything and removes the data.
func (s *Server) Down(ctx context.Context) error {
	if _, err := s.run(ctx, "down", s.dir); err != nil {
		return err
	}
	return os.RemoveAll(s.dir)
}

func (s *Server) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.script, args...)
	cmd.Env = append(append(os.Environ(), "FAST=1", "SMALL=1", "MYSQL_DSN=", "STORE_CLOCK="+s.clock), s.env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", fmt.Errorf("%s %v: %w: %s", s.script, args, err, exit.Stderr)
	case err != nil:
		return "", fmt.Errorf("%s %v: %w", s.script, args, err)
	}
	return string(out), nil
}

// FlushAll empties a Redis.
func FlushAll(ctx context.Context, addr string) error {
	c, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("FLUSHALL\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 5)
	_, err = c.Read(answer)
	return err
}
