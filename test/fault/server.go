package fault

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// Server is a private server that may be killed, run by test/services.
type Server struct {
	script, dir string
	names       []string
	// DSN is the store's, Redis the address of the hints, if asked for.
	DSN, Redis string
}

var exported = regexp.MustCompile(`(?m)^export (\w+)='(.*)'$`)

// StartServer starts mysql, and what else is named, below dir; root is the
// folder of the sources.
func StartServer(ctx context.Context, root, dir string, more ...string) (*Server, error) {
	s := &Server{script: filepath.Join(root, "test/services/services"), dir: dir, names: append([]string{"mysql"}, more...)}
	return s, s.Up(ctx)
}

// Up starts what does not run, with its former data.
func (s *Server) Up(ctx context.Context) error {
	out, err := s.run(ctx, append([]string{"up", s.dir}, s.names...)...)
	for _, m := range exported.FindAllStringSubmatch(out, -1) {
		switch m[1] {
		case "MYSQL_DSN":
			s.DSN = m[2]
		case "REDIS_ADDR":
			s.Redis = m[2]
		}
	}
	return err
}

// Kill ends the store as kill -9 does.
func (s *Server) Kill(ctx context.Context) error {
	_, err := s.run(ctx, "kill", s.dir, "mysql")
	return err
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
	cmd.Env = append(os.Environ(), "FAST=1", "SMALL=1", "MYSQL_DSN=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w", s.script, args, err)
	}
	return string(out), nil
}

// flushAll empties a Redis.
func flushAll(ctx context.Context, addr string) error {
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
