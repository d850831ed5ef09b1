//go:build !linux

// Package supervise starts commands in a process of its own; that needs Linux.
package supervise

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// errSystem says why there are no commands here.
var errSystem = errors.New("commands need Linux; set executor.command.enabled to false on this system")

// Config says how helpers are started.
type Config struct {
	Argv, Env []string
	NodeID    string
	Epoch     int64
	Lease     time.Duration
	Alone     bool
	Groups    bool
}

// Launcher starts nothing on this system.
type Launcher struct{}

// New tells that commands need Linux.
func New(clock.Clock, *slog.Logger, Config) (*Launcher, error) { return nil, errSystem }

// Sweep finds nothing.
func (l *Launcher) Sweep() int { return 0 }

// Holds says that nothing does.
func (l *Launcher) Holds() (ending, memory, processes string) { return "", "", "" }

// Start implements command.Starter.
func (l *Launcher) Start(context.Context, command.Order) (command.Process, error) {
	return nil, errSystem
}

// Close has nothing to end.
func (l *Launcher) Close() error { return nil }

// Main tells that commands need Linux.
func Main([]string) error { return errSystem }
