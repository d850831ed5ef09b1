// Package bench measures the product on the user's own machine: the real
// engine on a scratch database, with an observer outside the engine's tables,
// beside a ceiling that is measured in the same run.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Options say what to measure and how long.
type Options struct {
	// Name is one of Names.
	Name string
	// Duration is the measured span, after the warm-up; 0 is the default: 60 s
	// of api, 30 s of tail, 20 s of the others.
	Duration time.Duration
	// Jobs is the number of jobs of stampede, idle and lateness; 0 is the default.
	Jobs int
	// Rate is the fires a second of lateness (1,000) and of failover, rolling and
	// restart-store (300), the calls a second of api (200), the lines a second of
	// each of tail's runs (10); 0 is the default.
	Rate int
	// Nodes are processes on one store; 0 is the default: 3 of failover, rolling
	// and restart-store, 1 of the others.
	Nodes int
	// Rounds is how often failover, rolling and restart-store disturb; 0 is the
	// default of 3, 1 of restart-store.
	Rounds int
	// Freeze makes failover stop a node where it is, instead of killing it.
	Freeze bool
	// RestartCommand restarts the store of restart-store, by /bin/sh.
	RestartCommand string
	// History is the number of ended runs that throughput and lateness find.
	History int
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
	Probe               *Probe             `json:"probe,omitempty"`
	Failover            *Failover          `json:"failover,omitempty"`
	Rolling             *Rolling           `json:"rolling,omitempty"`
	Outage              *Outage            `json:"outage,omitempty"`
	Rows                *Rows              `json:"rows,omitempty"`
	Tail                *Tail              `json:"tail,omitempty"`
	Planned             int                `json:"planned"`
	Lost                int                `json:"lost"`
	Doubled             int                `json:"doubled"`
	LastStartMs         float64            `json:"lastStartMs,omitempty"`
	ReadyMs             float64            `json:"readyMs,omitempty"`
	History             int                `json:"history,omitempty"`
	Inversions          *Inversions        `json:"inversions,omitempty"`
	CPUPercent          float64            `json:"cpuPercent"`
	RSSMb               float64            `json:"rssMb"`
	ObserverPercent     float64            `json:"observerPercent,omitempty"`
	PerNode             []NodeFigures      `json:"perNode,omitempty"`
	QueriesPerSecond    map[string]float64 `json:"queriesPerSecond,omitempty"`
}

// count takes the outcome over.
func (r *Result) count(t tally) { r.Planned, r.Lost, r.Doubled = t.planned, t.lost, t.doubled }

// Names lists the benches.
func Names() []string {
	return []string{"throughput", "lateness", "stampede", "idle", "talk", "api", "tail", "failover", "rolling", "restart-store"}
}

// defaults fills what was not said.
func (o *Options) defaults() {
	d := Options{Duration: 20 * time.Second, Rate: 1000, Nodes: 1, Rounds: 3}
	switch o.Name {
	case "api":
		d.Duration, d.Rate = time.Minute, 200
	case "tail":
		d.Duration, d.Rate = 30*time.Second, 10
	case "failover", "rolling":
		d.Rate, d.Nodes = 300, 3
	case "restart-store":
		d.Rate, d.Nodes, d.Rounds = 300, 3, 1
	}
	o.Duration, o.Rate = cmp.Or(o.Duration, d.Duration), cmp.Or(o.Rate, d.Rate)
	o.Nodes, o.Rounds = cmp.Or(o.Nodes, d.Nodes), cmp.Or(o.Rounds, d.Rounds)
}

// maxNodes bounds the processes of one bench.
const maxNodes = 32

// check refuses what cannot be measured.
func (o *Options) check() error {
	several := slices.Contains([]string{"throughput", "lateness", "stampede", "idle", "failover", "rolling", "restart-store"}, o.Name)
	switch {
	case !slices.Contains(Names(), o.Name):
		return fmt.Errorf("there is no bench %q; choose one of %v", o.Name, Names())
	case o.Nodes < 1 || o.Nodes > maxNodes:
		return fmt.Errorf("--nodes must be 1 to %d", maxNodes)
	case o.Nodes > 1 && !several:
		return fmt.Errorf("%s measures one node; --nodes is for others", o.Name)
	case o.Nodes < 2 && (o.Name == "failover" || o.Name == "rolling"):
		return fmt.Errorf("%s needs at least two --nodes", o.Name)
	case o.Rounds < 1 || o.Rate < 1 || o.Duration < 0 || o.Jobs < 0 || o.History < 0:
		return errors.New("--rounds and --rate must be at least 1, and --duration, --jobs and --history not less than 0")
	}
	return nil
}

// Run measures. The scratch database is gone afterwards, also when ctx ends.
func Run(ctx context.Context, cfg config.Config, o Options) (r Result, err error) {
	o.defaults()
	if err := o.check(); err != nil {
		return r, err
	}
	s, err := openScratch(ctx, cfg)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, s.drop(context.WithoutCancel(ctx)))
	}()
	b := &bench{Options: o, scratch: s, clock: clock.NewSystem()}
	measure := map[string]func(context.Context) (Result, error){
		"throughput": b.throughput, "lateness": b.lateness, "stampede": b.stampede, "idle": b.idle, "talk": b.talk, "api": b.api,
		"tail": b.tail, "failover": b.failover, "rolling": b.rolling, "restart-store": b.restartStore,
	}
	return measure[o.Name](ctx)
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

func (b *bench) result(info sqldb.Info, cfg config.Config, jobs int) Result {
	return Result{
		Name: b.Name, Store: info.Driver + " " + info.Version, Durability: info.Durability, Nodes: 1,
		Slots: cfg.Executor.Slots, BatchSize: cfg.Engine.BatchSize, Jobs: jobs,
	}
}

// stop ends an engine; the runs of a bench take no time.
func stop(ctx context.Context, e *app.Engine) error {
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
	defer cancel()
	return e.Stop(stopCtx)
}

// sleep waits by the bench's clock.
func (b *bench) sleep(ctx context.Context, d time.Duration) error {
	return clock.Sleep(ctx, b.clock, d)
}

var _ app.Executor = (*observer)(nil)
