package app_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// within bounds the wait for something that must happen, look is the pause between two looks. They are the bubble's
// time in tests of a node that is alone, which need no server.
const (
	within = 20 * time.Second
	look   = 20 * time.Millisecond
)

// script is an executor that a test steers: each run is handed to the test,
// which says how it ends.
type script struct {
	mu    sync.Mutex
	seen  []entity.Run
	reply func(ctx context.Context, run entity.Run) entity.Outcome
	// progress is what each run tells when it begins, if not 0.
	progress int
	// handlers are its own; commands is how many it runs at once.
	handlers []string
	commands int
	// publisher receives what the outbox holds for the brokers; nil is no brokers.
	publisher maintenance.Publisher
}

func (s *script) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	s.mu.Lock()
	s.seen = append(s.seen, run)
	reply := s.reply
	s.mu.Unlock()
	rep.Log(entity.LogStdout, "attempt begins")
	if s.progress > 0 {
		rep.Progress(s.progress)
	}
	if reply == nil {
		return entity.Succeeded("done")
	}
	return reply(ctx, run)
}

func (s *script) Check(*entity.Job) []apperror.Field { return nil }

func (s *script) Handlers() []string { return s.handlers }

func (s *script) CommandSlots() int { return s.commands }

func (s *script) runs() []entity.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]entity.Run(nil), s.seen...)
}

// untilStopped runs until it is told to stop, and says why.
func untilStopped(ctx context.Context, _ entity.Run) entity.Outcome {
	<-ctx.Done()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, entity.ErrStopCancel):
		return entity.Outcome{Status: entity.StatusCancelled}
	case errors.Is(cause, entity.ErrStopTimeout):
		return entity.Outcome{Status: entity.StatusTimeout, Reason: entity.ReasonTimeout}
	default:
		return entity.Failed(entity.ReasonShutdown, "the node stops")
	}
}

// node is an engine under test.
type node struct {
	*app.Engine
	t      testing.TB
	cfg    config.Config
	clock  *clocktest.Shifted
	script *script
	log    *logtest.Log
}

func newConfig(t *testing.T) config.Config {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "0", "node.id": "node-1",
		"engine.scanIntervalMs": "100", "engine.horizonMs": "1000",
	}})
	require.NoError(t, err)
	dbtest.SQLiteAt(t, filepath.Join(cfg.DataDir, "platform-scheduler.db"))
	return cfg
}

// startNode starts an engine that is stopped at the end of the test.
func startNode(t testing.TB, cfg config.Config, s *script) *node {
	t.Helper()
	n := &node{t: t, cfg: cfg, clock: clocktest.NewShifted(), script: s, log: &logtest.Log{}}
	engine, err := app.NewEngine(t.Context(), cfg, app.Options{
		Clock: n.clock, Executor: s, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
		Publisher: s.publisher,
	})
	require.NoError(t, err)
	n.Engine = engine
	engine.Start()
	t.Cleanup(n.complain)
	return n
}

// complain shows the warnings of a node whose test has failed.
func (n *node) complain() {
	if !n.t.Failed() {
		return
	}
	for line := range strings.Lines(n.log.String()) {
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, "level=DEBUG") {
			n.t.Logf("%s: %s", n.cfg.Node.ID, line)
		}
	}
}

func (n *node) stop() { require.NoError(n.t, n.Stop(context.Background())) }

// newJob makes a definition; change says what is special about it.
func newJob(name string, change func(j *entity.Job)) *entity.Job {
	j := validation.NewJob("UTC")
	j.Name, j.Type, j.Class, j.Data = name, entity.JobCustom, "noop", "{}"
	j.Schedule = schedule.Spec{Kind: schedule.None, TimeZone: "UTC"}
	if change != nil {
		change(j)
	}
	validation.Defaults(j, "UTC")
	return j
}

func every(interval time.Duration) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedRate, interval.Milliseconds()
	}
}

func (n *node) create(j *entity.Job) *entity.Job {
	n.t.Helper()
	created, err := n.Jobs.Create(n.t.Context(), j, true)
	require.NoError(n.t, err)
	return created
}

func (n *node) trigger(id string) string {
	n.t.Helper()
	ids, err := n.Jobs.Trigger(n.t.Context(), id, job.Trigger{Source: entity.TriggerManual})
	require.NoError(n.t, err)
	require.Len(n.t, ids, 1)
	return ids[0]
}

// rows are the executions of a job, oldest first.
func (n *node) rows(jobID string) []*entity.Execution {
	n.t.Helper()
	rows, _, err := n.Executions.List(n.t.Context(), repository.ExecutionFilter{JobID: jobID}, repository.Page{Limit: 200})
	require.NoError(n.t, err)
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

func (n *node) row(id string) *entity.Execution {
	n.t.Helper()
	row, err := n.Executions.Get(n.t.Context(), id)
	require.NoError(n.t, err)
	return row
}

func (n *node) await(what string, condition func() bool) {
	n.t.Helper()
	for range within / look {
		if condition() {
			return
		}
		time.Sleep(look)
	}
	require.Fail(n.t, what+" does not happen")
}

func (n *node) awaitStatus(id string, want entity.Status) *entity.Execution {
	n.t.Helper()
	n.await("the run becomes "+string(want), func() bool { return n.row(id).Status == want })
	return n.row(id)
}

func count(rows []*entity.Execution, status entity.Status, reason entity.Reason) int {
	c := 0
	for _, r := range rows {
		if r.Status == status && r.Reason == reason {
			c++
		}
	}
	return c
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
