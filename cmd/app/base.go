package app

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// base is what every step of NewEngine takes.
type base struct {
	Metrics *metrics.MetricsCollector

	cfg     config.Config
	options Options
	machine clock.Clock
	logger  *slog.Logger
	// zone is that of schedules without one, and of the days of statistics.
	zone *time.Location
	// guard decides which addresses may be called.
	guard *outbound.Guard
	lost  chan error
	// opened closes what the steps have opened.
	opened *closers
}

func newBase(cfg config.Config, o Options) (b base, err error) {
	if o.Clock == nil {
		o.Clock = clock.NewSystem()
	}
	if o.Startup == nil {
		o.Startup = &StartupStatus{}
	}
	if o.Door == nil {
		o.Door = func() string { return "" }
	}
	b = base{
		Metrics: metrics.New(o.Clock, jobLabels(cfg)), cfg: cfg, options: o, machine: o.Clock, logger: o.Logger,
		lost: make(chan error, 1), opened: &closers{},
	}
	if b.zone, err = time.LoadLocation(cfg.Server.TimeZone); err != nil {
		return b, fmt.Errorf("server.timeZone: %w", err)
	}
	networks, err := outbound.ParseNetworks(cfg.Executor.HTTP.AllowCIDRs)
	if err != nil {
		return b, fmt.Errorf("executor.http.allowCIDRs: %w", err)
	}
	b.guard = outbound.New(outbound.Policy{AllowPrivate: cfg.Executor.HTTP.AllowPrivate, AllowCIDRs: networks})
	return b, nil
}

// end ends the process; only the first reason counts.
func (b base) end(why error) {
	select {
	case b.lost <- why:
	default:
	}
}

// timing returns the periods of this node's beats and lease.
func (b base) timing() liveness.Timing {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return liveness.Timing{Beat: ms(b.cfg.Engine.BeatMs), Lease: ms(b.cfg.Engine.LeaseMs)}
}

// scanInterval is the time between two scans.
func (b base) scanInterval() time.Duration {
	return time.Duration(b.cfg.Engine.ScanIntervalMs) * time.Millisecond
}

// close releases what the steps have opened. The helper processes of executors end first.
func (b base) close() error {
	var err error
	if p := b.options.Processes; p != nil {
		err = p.Close()
	}
	return errors.Join(err, b.opened.close())
}

// closers close what was opened, the last one first.
type closers []func() error

func (c *closers) add(do func() error) { *c = append(*c, do) }

func (c *closers) addQuiet(do func()) { c.add(func() error { do(); return nil }) }

func (c *closers) close() error {
	var errs []error
	for _, do := range slices.Backward(*c) {
		errs = append(errs, do())
	}
	return errors.Join(errs...)
}

// signal wakes a part that is made after the one that calls it. Two parts of a node call each
// other in a circle: the store wakes the readers of its events, and the sender of messages
// wakes the loop of alerts, which wakes the sender.
type signal struct{ to atomic.Pointer[func()] }

func (s *signal) connect(wake func()) { s.to.Store(&wake) }

// wake does nothing before connect.
func (s *signal) wake() {
	if wake := s.to.Load(); wake != nil {
		(*wake)()
	}
}
