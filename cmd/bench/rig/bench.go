// Package rig holds what every bench needs: scratch stores, one engine or a cluster of processes,
// the load, and a meter.
package rig

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

const (
	// WarmUp is not measured.
	WarmUp = 3 * time.Second
	// StartLead is the time between the start of the engine and the moment from
	// which on jobs fire.
	StartLead = 5 * time.Second
	// LoadTime is the time that loading a job takes at most.
	LoadTime = time.Millisecond
	// StallBound is the time without an end after which nothing more is expected.
	StallBound = 30 * time.Second
)

// Bench is one measurement: its settings, its scratch stores and its clock.
type Bench struct {
	Settings
	Scratch *Scratch
	Clock   clock.Clock
}

// Settings are what every bench needs to know.
type Settings struct {
	// Name is that of the bench.
	Name string
	// Nodes are processes on one store. Processes says that each node is one of
	// its own, also where there is one node alone.
	Nodes     int
	Processes bool
	// Alone is one node that is a process of its own on whatever store.
	Alone bool
	// Duration is the measured span, after the warm-up.
	Duration time.Duration
	// Profile is a file for a CPU profile of the measured span; empty: none.
	Profile string
	// Progress takes notes for people while it runs.
	Progress io.Writer
}

// New makes the scratch folder of a bench, and a way to the store's server.
func New(ctx context.Context, cfg config.Config, s Settings) (*Bench, error) {
	scratch, err := openScratch(ctx, cfg)
	if err != nil {
		return nil, err
	}
	b := &Bench{Settings: s, Scratch: scratch, Clock: clock.NewSystem()}
	scratch.note = b.Note
	return b, nil
}

// Drop removes everything that the bench has made.
func (b *Bench) Drop(ctx context.Context) error { return b.Scratch.drop(ctx) }

// Note writes a line for people.
func (b *Bench) Note(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...)
}

// NewResult begins the result of a bench of one node.
func (b *Bench) NewResult(info sqldb.Info, cfg config.Config, jobs int) report.Result {
	return report.Result{
		Name: b.Name, Store: info.Driver + " " + info.Version, Durability: info.Durability, Nodes: 1,
		Slots: cfg.Executor.Slots, BatchSize: cfg.Engine.BatchSize, Jobs: jobs,
	}
}

// Observe makes the executor of an engine of this process; handlers run the
// classes that only this bench has.
func (b *Bench) Observe(see func(some ...measure.StartEvent), handlers map[string]node.Handler) *node.Observer {
	return node.NewObserver(b.Clock, see, handlers)
}

// Sleep waits by the bench's clock.
func (b *Bench) Sleep(ctx context.Context, d time.Duration) error {
	return clock.Sleep(ctx, b.Clock, d)
}

// Lead is the time between the loading of jobs and the moment at which they begin to fire.
// Meanwhile nodes start and share the partitions, which takes a lease.
func (b *Bench) Lead(alone time.Duration) time.Duration {
	if !b.Processes {
		return alone
	}
	return StartLead + 2*time.Duration(b.Scratch.cfg.Engine.LeaseMs)*time.Millisecond
}
