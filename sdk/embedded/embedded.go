// Package embedded runs the scheduler inside a Go program: the same engine as
// the server, with the program's own handlers.
//
//	s, err := embedded.New(ctx, embedded.Options{
//		DataDir:  "./data",
//		Handlers: map[string]sdk.Handler{"report": sdk.HandlerFunc(report)},
//	})
//	…
//	s.Start()
//	defer s.Stop(context.Background())
//
// Every planned fire has one recorded outcome in the program's SQLite file,
// through crashes and restarts. With Serve set the REST API is there too.
package embedded

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Options say how to run the engine. The zero value is a good default.
type Options struct {
	// DataDir holds the database; default ./data. One process uses it at a time.
	DataDir string
	// Handlers are the program's handlers by job class.
	Handlers map[string]sdk.Handler
	// Serve opens the REST API on server.addr (127.0.0.1:8080).
	Serve bool
	// Settings are configuration keys such as executor.slots; they go over the
	// environment.
	Settings map[string]string
	// Environ are PS_* variables, as os.Environ gives them; default none.
	Environ []string
	// Logger takes the engine's logs; default: discard.
	Logger *slog.Logger
}

// Scheduler is an engine in this process. Its methods are safe for concurrent
// use; Start and Stop are called once each, in this order.
type Scheduler struct {
	engine *app.Engine
	server *server.Server
}

// New opens the database and wires the engine; nothing fires before Start.
func New(ctx context.Context, o Options) (*Scheduler, error) {
	settings := map[string]string{}
	for k, v := range o.Settings {
		settings[k] = v
	}
	if o.DataDir != "" {
		settings["dataDir"] = o.DataDir
	}
	cfg, _, err := config.Load(config.Options{Environ: o.Environ, Flags: settings})
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	machine := clock.NewSystem()
	executor, err := executors.New(cfg, executors.Options{
		Clock: machine, Logger: o.Logger, Handlers: o.Handlers,
		Served: o.Serve,
	})
	if err != nil {
		return nil, fmt.Errorf("register the handlers: %w", err)
	}
	options := app.Options{Clock: machine, Executor: executor, Processes: executor, Logger: o.Logger}
	if !o.Serve {
		engine, err := app.NewEngine(ctx, cfg, options)
		if err != nil {
			return nil, err
		}
		return &Scheduler{engine: engine}, nil
	}
	server, err := server.New(ctx, cfg, options)
	if err != nil {
		return nil, err
	}
	return &Scheduler{engine: server.Engine, server: server}, nil
}

// Start begins to fire and to run, and to serve where that was asked for. It
// returns at once.
func (s *Scheduler) Start() error {
	if s.server != nil {
		return s.server.Start()
	}
	s.engine.Start()
	return nil
}

// Stop ends the engine: nothing new starts, what runs may end within the grace
// of server.shutdownGraceSec (30 s), then its context is cancelled. Stop waits for
// handlers that ignore that until ctx ends: give it an end. Then it returns an error;
// their goroutines go on, and their runs are recovered at the next Start.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.server != nil {
		return s.server.Stop(ctx)
	}
	return s.engine.Stop(ctx)
}

// URL is the address of the REST API; empty without Serve.
func (s *Scheduler) URL() string {
	if s.server == nil {
		return ""
	}
	return s.server.URL()
}

// EnsureJob creates the job of a definition, the JSON body of POST /jobs. If its group has a job
// of that name already, that one stays as it is. It returns the job's id. A wrong definition is
// refused with all wrong fields at once.
func (s *Scheduler) EnsureJob(ctx context.Context, definition string) (id string, err error) {
	job, err := s.engine.ReadJob(ctx, []byte(definition))
	if err != nil {
		return "", err
	}
	created, err := s.engine.Jobs.Create(ctx, job.Job, job.Enabled)
	if err == nil {
		return created.ID, nil
	}
	if !apperror.Is(err, apperror.KindConflict) {
		return "", err
	}
	return s.find(ctx, repository.JobName{Group: job.Job.Group, Name: job.Job.Name}, err)
}

// find looks a job up by its exact name; conflict is returned when there is none.
func (s *Scheduler) find(ctx context.Context, name repository.JobName, conflict error) (string, error) {
	found, err := s.engine.Store.Jobs.JobsNamed(ctx, []repository.JobName{name})
	if err != nil {
		return "", err
	}
	if job := found[name]; job != nil {
		return job.ID, nil
	}
	return "", conflict
}

// Trigger runs a job now, outside its schedule. params is a JSON object for
// the run, or empty. It returns the ids of the executions, one for each shard.
func (s *Scheduler) Trigger(ctx context.Context, jobID, params string) ([]string, error) {
	return s.engine.Jobs.Trigger(ctx, jobID, job.Trigger{Params: params, Source: entity.TriggerAPI})
}
