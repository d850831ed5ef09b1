package rig

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// System is what a bench measures on a fresh scratch store. It is an engine of this process, or a
// cluster with a process for each node.
type System interface {
	// Writer takes the load, before the start.
	Writer
	// Now is the time by which fires are due.
	Now() time.Time
	// Describe begins a result.
	Describe(jobs int) report.Result
	// Start returns when every node takes part.
	Start(ctx context.Context) error
	// Ended counts ends that the store has taken.
	Ended() int64
	// Clients are signed in, one at each node that serves.
	Clients(ctx context.Context) ([]*client.Client, error)
	// Processes are those beside this one.
	Processes() []Process
	// Stop lets runs finish.
	Stop(ctx context.Context) error
	// Close ends what still runs.
	Close(ctx context.Context)
}

// Process is a node beside this process; the pid is 0 while there is none.
type Process struct {
	Name string
	PID  int
}

// Shape says what a system is made for.
type Shape struct {
	// Served: the nodes have a REST edge. Eager: an entry is reported before its
	// handler goes on, so that a node that is killed has kept nothing back.
	// Calls: HTTP jobs are run by the product's own executors, and no entry is seen.
	Served, Eager, Calls bool
	// Workers: a worker of the group WorkerGroup is there, which has as many slots as the node. It is of this process,
	// and calls the node as any worker does. It is for one node.
	Workers bool
}

// NewSystem makes what the options ask for, and sends what is seen to the ledger.
func (b *Bench) NewSystem(ctx context.Context, l *measure.Ledger, s Shape) (System, error) {
	if b.Processes {
		return NewCluster(ctx, b, l, s)
	}
	return b.NewInProcess(ctx, b.Observe(l.See, nil), s)
}

// InProcess is an engine of this process, with or without its REST edge.
type InProcess struct {
	b                *Bench
	engine           *app.Engine
	server           *server.Server
	cfg              config.Config
	observer         *node.Observer
	started, stopped bool
	// workers: the worker runs until dismiss.
	workers bool
	dismiss func() error
}

// NewInProcess makes one whose handlers the observer has.
func (b *Bench) NewInProcess(ctx context.Context, observer *node.Observer, s Shape) (a *InProcess, err error) {
	a = &InProcess{b: b, observer: observer, workers: s.Workers}
	if s.Served || s.Workers {
		if a.server, a.cfg, err = b.OpenServer(ctx, observer); err != nil {
			return nil, err
		}
		a.engine = a.server.Engine
		return a, nil
	}
	a.engine, a.cfg, err = b.OpenEngine(ctx, observer)
	return a, err
}

// Live reports whether an execution, also one of a step, has not ended.
func (a *InProcess) Live(ctx context.Context) (bool, error) {
	for _, status := range []entity.Status{entity.StatusWaiting, entity.StatusRunning} {
		rows, _, err := a.engine.Store.Executions.List(ctx, repository.ExecutionFilter{Status: status, Steps: true},
			repository.Page{Limit: 1})
		if err != nil || len(rows) > 0 {
			return true, err
		}
	}
	return false, nil
}

// Write implements Writer.
func (a *InProcess) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return a.engine.Store.Write(ctx, lane, name, fn)
}

// Now implements System.
func (a *InProcess) Now() time.Time { return a.engine.Clock.Now() }

// Describe implements System.
func (a *InProcess) Describe(jobs int) report.Result {
	return a.b.NewResult(a.engine.Store.Info(), a.cfg, jobs)
}

// Start implements System.
func (a *InProcess) Start(ctx context.Context) error {
	a.started = true
	if a.server != nil {
		err := a.server.Start()
		if err == nil && a.workers {
			a.dismiss, err = a.hire(ctx)
		}
		return err
	}
	a.engine.Start()
	return nil
}

// Ended implements System.
func (a *InProcess) Ended() int64 { return a.observer.Completed.Load() }

// Clients implements System.
func (a *InProcess) Clients(ctx context.Context) ([]*client.Client, error) {
	c, err := SignIn(ctx, a.server.URL(), 1)
	return []*client.Client{c}, err
}

// Processes implements System.
func (a *InProcess) Processes() []Process { return nil }

// Stop implements System.
func (a *InProcess) Stop(ctx context.Context) error {
	a.stopped = true
	if a.dismiss != nil {
		if err := a.dismiss(); err != nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopBound)
	defer cancel()
	if a.server != nil {
		return a.server.Stop(bounded)
	}
	return a.engine.Stop(bounded)
}

// Close implements System.
func (a *InProcess) Close(ctx context.Context) {
	switch {
	case a.stopped:
	case a.started:
		_ = a.Stop(ctx) // the bench has failed already
	default:
		_ = a.engine.Close()
	}
}

// OpenStore opens a scratch store without an engine.
func (b *Bench) OpenStore(ctx context.Context, cfg config.Config) (*persistence.Store, error) {
	if err := mkdir(cfg.DataDir); err != nil {
		return nil, err
	}
	return persistence.Open(ctx, persistence.Config{
		Config: sqldb.Config{
			Driver: cfg.Store.Driver, DSN: cfg.Store.DSN, Path: cfg.DataDir + "/" + datafolder.DatabaseFile,
			Synchronous: cfg.Store.Synchronous, Clock: b.Clock,
		},
		AutoMigrate: true,
	})
}
