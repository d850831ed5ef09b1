//go:build !linux

// Package supervise starts commands in a process of its own. It needs Linux.
package supervise

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// errSystem is the error of commands on this system.
var errSystem = errors.New("commands need Linux; set executor.command.enabled to false on this system")

// Config says how helpers are started.
type Config struct {
	Argv, Env []string
	NodeID    string
	Epoch     int64
	Lease     time.Duration
	Left      func() time.Duration
	Alone     bool
	Groups    bool

	UserProcesses int64
}

// Launcher starts nothing on this system.
type Launcher struct{}

// New returns an error, because commands need Linux.
func New(clock.Clock, *slog.Logger, Config) (*Launcher, error) { return nil, errSystem }

// Sweep does nothing.
func (l *Launcher) Sweep() int { return 0 }

// Holds returns nothing.
func (l *Launcher) Holds(command.Account) (ending, memory, processes string) { return "", "", "" }

// Start implements command.Starter.
func (l *Launcher) Start(context.Context, command.Order) (command.Process, error) {
	return nil, errSystem
}

// Close does nothing.
func (l *Launcher) Close() error { return nil }

// Main returns an error, because commands need Linux.
func Main([]string) error { return errSystem }
