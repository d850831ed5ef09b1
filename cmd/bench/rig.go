package bench

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// rig is what a bench measures on a fresh scratch store: an engine of this
// process, or the nodes of a cluster, each a process of its own.
type rig interface {
	// writer takes the load, before the start.
	writer
	// now is the time by which fires are due.
	now() time.Time
	// describe begins a result.
	describe(jobs int) Result
	// start returns when every node takes part.
	start(ctx context.Context) error
	// ended counts ends that the store has taken.
	ended() int64
	// clients are signed in, one at each node that serves.
	clients(ctx context.Context) ([]*client.Client, error)
	// processes are those beside this one.
	processes() []process
	// stop lets runs finish.
	stop(ctx context.Context) error
	// close ends what still runs.
	close(ctx context.Context)
}

// process is a node beside this process; the pid is 0 while there is none.
type process struct {
	name string
	pid  int
}

// shape says what a rig is made for.
type shape struct {
	// served: the nodes have a REST edge. eager: an entry is told before its
	// handler goes on, so that a node that is killed has kept nothing back.
	served, eager bool
}

// rig makes what the options ask for, and sends what is seen to the ledger.
func (b *bench) rig(ctx context.Context, l *ledger, s shape) (rig, error) {
	if Clustered(b.Name, b.Nodes) {
		return b.newCluster(ctx, l, s)
	}
	watch := &observer{bench: b, see: l.see}
	a := &alone{b: b, watch: watch}
	var err error
	if s.served {
		if a.server, a.cfg, err = b.serve(ctx, watch); err != nil {
			return nil, err
		}
		a.engine = a.server.Engine
		return a, nil
	}
	if a.engine, a.cfg, err = b.open(ctx, watch); err != nil {
		return nil, err
	}
	return a, nil
}

// alone is an engine of this process, with or without its REST edge.
type alone struct {
	b                *bench
	engine           *app.Engine
	server           *app.Server
	cfg              config.Config
	watch            *observer
	started, stopped bool
}

// Write implements writer.
func (a *alone) Write(ctx context.Context, lane repository.Lane, name string, fn func(ctx context.Context, tx repository.Tx) error) error {
	return a.engine.Store.Write(ctx, lane, name, fn)
}

func (a *alone) now() time.Time { return a.engine.Clock.Now() }

func (a *alone) describe(jobs int) Result {
	return a.b.result(a.engine.Store.Info(), a.cfg, jobs)
}

func (a *alone) start(context.Context) error {
	a.started = true
	if a.server != nil {
		return a.server.Start()
	}
	a.engine.Start()
	return nil
}

func (a *alone) ended() int64 { return a.watch.completed.Load() }

func (a *alone) clients(ctx context.Context) ([]*client.Client, error) {
	c, err := signIn(ctx, a.server.URL(), 1)
	return []*client.Client{c}, err
}

func (a *alone) processes() []process { return nil }

// stopBound is how long a stop may take; the runs of most benches take no time.
const stopBound = 30 * time.Second

func (a *alone) stop(ctx context.Context) error {
	a.stopped = true
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
	defer cancel()
	if a.server != nil {
		return a.server.Stop(bounded)
	}
	return a.engine.Stop(bounded)
}

func (a *alone) close(ctx context.Context) {
	switch {
	case a.stopped:
	case a.started:
		_ = a.stop(ctx) // the bench has failed already
	default:
		_ = a.engine.Close()
	}
}

// openStore opens a scratch store without an engine.
func (b *bench) openStore(ctx context.Context, cfg config.Config) (*persistence.Store, error) {
	if err := mkdir(cfg.DataDir); err != nil {
		return nil, err
	}
	return persistence.Open(ctx, persistence.Config{
		Config: sqldb.Config{
			Driver: cfg.Store.Driver, DSN: cfg.Store.DSN, Path: cfg.DataDir + "/" + app.DatabaseFile,
			Synchronous: cfg.Store.Synchronous, Clock: b.clock,
		},
		AutoMigrate: true,
	})
}
