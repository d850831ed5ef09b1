// Package bench measures the product on the user's own machine: the real
// engine on a scratch database, with an observer outside the engine's tables,
// beside a ceiling that is measured in the same run.
package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Options say what to measure and how long.
type Options struct {
	// Name is one of Names.
	Name string
	// Duration is the measured span, after the warm-up; 0 is the default: 60 s
	// of api, 30 s of tail, 20 s of the others.
	Duration time.Duration
	// Jobs is the number of jobs of stampede and idle; 0 is the default.
	Jobs int
	// Rate is the fires a second of lateness (1,000), the calls a second of api
	// (200), the lines a second of each of tail's runs (10); 0 is the default.
	Rate int
	// Fires is the fires a second beside the calls of api.
	Fires int
	// Tails are the logs that tail follows at once.
	Tails int
	// Ceiling measures the bare programs beside throughput.
	Ceiling bool
	// Coordinated makes throughput measure SERIAL jobs too.
	Coordinated bool
	// Profile is a file for a CPU profile of the measured span; empty: none.
	Profile string
	// Progress takes notes for people while it runs.
	Progress io.Writer
}

// Lateness is handler entry minus due time, or another time in ms.
type Lateness struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// String tells it to people; "–" where nothing was measured.
func (l *Lateness) String() string {
	if l == nil {
		return "–"
	}
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, max %.1f ms", l.P50, l.P99, l.Max)
}

// Result is what a bench found; absent figures do not apply to it.
type Result struct {
	Name                string             `json:"name"`
	Store               string             `json:"store"`
	Durability          []string           `json:"durability"`
	Nodes               int                `json:"nodes"`
	Slots               int                `json:"slots"`
	BatchSize           int                `json:"batchSize"`
	Jobs                int                `json:"jobs"`
	ExecutionsPerSecond float64            `json:"executionsPerSecond,omitempty"`
	CeilingPerSecond    float64            `json:"ceilingPerSecond,omitempty"`
	ShareOfCeiling      float64            `json:"shareOfCeiling,omitempty"`
	OwnTablePerSecond   float64            `json:"ownTablePerSecond,omitempty"`
	ShareOfOwnTable     float64            `json:"shareOfOwnTable,omitempty"`
	CoordinatedPerSec   float64            `json:"coordinatedPerSecond,omitempty"`
	LatenessMs          *Lateness          `json:"latenessMs,omitempty"`
	Talk                *Talk              `json:"talk,omitempty"`
	API                 *API               `json:"api,omitempty"`
	Tail                *Tail              `json:"tail,omitempty"`
	Planned             int                `json:"planned"`
	Lost                int                `json:"lost"`
	Doubled             int                `json:"doubled"`
	LastStartMs         float64            `json:"lastStartMs,omitempty"`
	ReadyMs             float64            `json:"readyMs,omitempty"`
	CPUPercent          float64            `json:"cpuPercent"`
	RSSMb               float64            `json:"rssMb"`
	QueriesPerSecond    map[string]float64 `json:"queriesPerSecond,omitempty"`
}

// Names lists the benches.
func Names() []string {
	return []string{"throughput", "lateness", "stampede", "idle", "talk", "api", "tail"}
}

// defaults fills what was not said.
func (o *Options) defaults() {
	duration, rate := 20*time.Second, 1000
	switch o.Name {
	case "api":
		duration, rate = time.Minute, 200
	case "tail":
		duration, rate = 30*time.Second, 10
	}
	if o.Duration == 0 {
		o.Duration = duration
	}
	if o.Rate == 0 {
		o.Rate = rate
	}
}

// Run measures. The scratch database is gone afterwards.
func Run(ctx context.Context, cfg config.Config, o Options) (r Result, err error) {
	s, err := openScratch(ctx, cfg)
	if err != nil {
		return r, err
	}
	defer func() {
		if dropErr := s.drop(context.WithoutCancel(ctx)); err == nil {
			err = dropErr
		}
	}()
	o.defaults()
	b := &bench{Options: o, scratch: s, clock: clock.NewSystem()}
	switch o.Name {
	case "throughput":
		return b.throughput(ctx)
	case "lateness":
		return b.lateness(ctx)
	case "stampede":
		return b.stampede(ctx)
	case "idle":
		return b.idle(ctx)
	case "talk":
		return b.talk(ctx)
	case "api":
		return b.api(ctx)
	case "tail":
		return b.tail(ctx)
	}
	return r, fmt.Errorf("there is no bench %q; choose one of %v", o.Name, Names())
}

// bench is one measurement.
type bench struct {
	Options
	scratch *scratch
	clock   clock.Clock
}

func (b *bench) note(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...)
}

// start opens the engine on a fresh scratch store.
func (b *bench) start(ctx context.Context, watch *observer) (*app.Engine, config.Config, error) {
	cfg, err := b.scratch.next(ctx)
	if err != nil {
		return nil, cfg, err
	}
	e, err := b.open(ctx, cfg, watch)
	return e, cfg, err
}

func (b *bench) open(ctx context.Context, cfg config.Config, watch *observer) (*app.Engine, error) {
	return app.NewEngine(ctx, cfg, app.Options{
		Clock: b.clock, Executor: watch, Observer: watch.stored,
		Logger: slog.New(slog.NewTextHandler(b.Progress, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

func (b *bench) result(e *app.Engine, cfg config.Config, jobs int) Result {
	info := e.Store.Info()
	return Result{
		Name: b.Name, Store: info.Driver + " " + info.Version, Durability: info.Durability, Nodes: 1,
		Slots: cfg.Executor.Slots, BatchSize: cfg.Engine.BatchSize, Jobs: jobs,
	}
}

// stop ends an engine; the runs of a bench take no time.
func stop(ctx context.Context, e *app.Engine) error {
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return e.Stop(stopCtx)
}

// sleep waits by the bench's clock.
func (b *bench) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := b.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C():
		return nil
	}
}

var _ app.Executor = (*observer)(nil)

// jobClass is the handler of the bench's jobs; the observer runs all of them.
const jobClass = "noop"

// template is the definition that all jobs of a bench share.
func template(now time.Time) entity.Job {
	return benchJob(now)
}
