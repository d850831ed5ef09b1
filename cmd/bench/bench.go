// Package bench measures the product on the user's own machine. It runs the real engine on a
// scratch database. An observer outside the engine's tables sees every start, and bare programs
// measure a ceiling in the same run.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/alerts"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/calls"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/console"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/disruption"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/idle"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/tail"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/throughput"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/timing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Options say what to measure and how long.
type Options struct {
	// Name is one of Names.
	Name string
	// Duration is the measured span, after the warm-up; 0 is the default: 60 s
	// of api and console, 30 s of tail and alerts, 20 s of the others.
	Duration time.Duration
	// Jobs is the number of jobs of stampede, idle and lateness, and of the burst of alerts (a tenth
	// of it); 0 is the default.
	Jobs int
	// Rate is the fires a second of lateness (1,000), of storm (5,000) and of failover, rolling and restart-store
	// (300). Of api it is the calls a second (200), of tail the lines a second of each run (10), of
	// alerts the failures a second (10). 0
	// is the default.
	Rate int
	// Nodes are processes on one store; 0 is the default: 3 of failover, rolling
	// and restart-store, 1 of the others.
	Nodes int
	// Rounds is how often failover, rolling and restart-store disturb, and the turns of storm; 0 is
	// the default of 3, 1 of restart-store.
	Rounds int
	// Freeze makes failover stop a node where it is, instead of killing it.
	Freeze bool
	// RestartCommand restarts the store of restart-store, by /bin/sh.
	RestartCommand string
	// History is the number of ended runs that throughput and lateness find.
	History int
	// Fires is the fires a second beside the calls of api (200), and beside the browsers of
	// console (20); 0 is the default.
	Fires int
	// Browsers is how many have the overview of console open.
	Browsers int
	// Tails are the logs that tail follows at once.
	Tails int
	// Burst is the number of failures of alerts that come within a minute, and the failures a minute
	// of storm.
	Burst int
	// Ceiling measures the bare programs beside throughput.
	Ceiling bool
	// Coordinated makes throughput measure SERIAL jobs too.
	Coordinated bool
	// Profile is a file for a CPU profile of the measured span; empty: none.
	Profile string
	// Progress takes notes for people while it runs.
	Progress io.Writer
}

// Names lists the benches.
func Names() []string {
	return []string{
		"throughput", "lateness", "stampede", "idle", "talk", "api", "tail", "alerts", "storm", "console", "failover",
		"rolling", "restart-store",
	}
}

// defaults fills the options that are not set.
func (o *Options) defaults() {
	d := Options{Duration: 20 * time.Second, Rate: 1000, Nodes: 1, Rounds: 3, Fires: 200}
	switch o.Name {
	case "api":
		d.Duration, d.Rate = time.Minute, 200
	case "console":
		d.Duration, d.Fires = time.Minute, 20
	case "storm":
		d.Rate = 5000
	case "tail", "alerts":
		d.Duration, d.Rate = 30*time.Second, 10
	case "failover", "rolling":
		d.Rate, d.Nodes = 300, 3
	case "restart-store":
		d.Rate, d.Nodes, d.Rounds = 300, 3, 1
	}
	o.Duration, o.Rate = cmp.Or(o.Duration, d.Duration), cmp.Or(o.Rate, d.Rate)
	o.Fires = cmp.Or(o.Fires, d.Fires)
	o.Nodes, o.Rounds = cmp.Or(o.Nodes, d.Nodes), cmp.Or(o.Rounds, d.Rounds)
}

// maxNodes bounds the processes of one bench.
const maxNodes = 32

// check refuses what cannot be measured.
func (o *Options) check() error {
	several := slices.Contains([]string{
		"throughput", "lateness", "stampede", "idle", "alerts", "failover", "rolling",
		"restart-store",
	}, o.Name)
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
	case o.Fires < 1 || o.Name == "console" && (o.Browsers < 1 || o.Browsers > console.MaxBrowsers):
		return fmt.Errorf("--fires must be at least 1, and --browsers 1 to %d", console.MaxBrowsers)
	case o.Name == "storm" && (o.Burst < 1 || o.Rate < (o.Burst+59)/60):
		return errors.New("--burst must be at least 1, and --rate at least a sixtieth of it")
	case o.Name == "alerts" && (o.Burst < 1 || o.Jobs > o.Burst):
		return errors.New("--burst must be at least 1, and at least --jobs")
	}
	return nil
}

// Clustered reports whether a bench runs nodes as processes of their own, for
// which the configuration must be of the cluster profile.
func Clustered(name string, nodes int) bool {
	return nodes > 1 || slices.Contains([]string{"failover", "rolling", "restart-store"}, name)
}

// Run measures. The scratch database is gone afterwards, also when ctx ends.
func Run(ctx context.Context, cfg config.Config, o Options) (r report.Result, err error) {
	o.defaults()
	if err := o.check(); err != nil {
		return r, err
	}
	if o.Name == "alerts" || o.Name == "storm" {
		if cfg, err = alerts.Configure(cfg); err != nil {
			return r, err
		}
	}
	alone := o.Name == "console"
	if alone {
		cfg = console.Configure(cfg, o.Browsers)
	}
	b, err := rig.New(ctx, cfg, rig.Settings{
		Name: o.Name, Nodes: o.Nodes, Processes: alone || Clustered(o.Name, o.Nodes), Alone: alone, Duration: o.Duration,
		Profile: o.Profile, Progress: o.Progress,
	})
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, b.Drop(context.WithoutCancel(ctx)))
	}()
	return o.workload(b, alerts.GoalsOf(cfg)).Run(ctx)
}

// workload is what a bench does with its nodes.
type workload interface {
	Run(ctx context.Context) (report.Result, error)
}

// workload is the one of the name; check has seen to it that there is one.
func (o *Options) workload(b *rig.Bench, goals alerts.Goals) workload {
	return map[string]workload{
		"throughput":    throughput.FlatOut{Bench: b, Ceiling: o.Ceiling, Coordinated: o.Coordinated, History: o.History},
		"talk":          throughput.Talk{Bench: b},
		"lateness":      timing.Lateness{Bench: b, Rate: o.Rate, Jobs: o.Jobs, History: o.History},
		"stampede":      timing.Stampede{Bench: b, Jobs: o.Jobs},
		"idle":          idle.Servers{Bench: b, Jobs: o.Jobs},
		"api":           calls.Calls{Bench: b, Rate: o.Rate, Fires: o.Fires},
		"tail":          tail.Logs{Bench: b, Tails: o.Tails, Rate: o.Rate},
		"alerts":        alerts.Told{Bench: b, Rate: o.Rate, Burst: o.Burst, Jobs: o.Jobs, Goals: goals},
		"storm":         alerts.Storm{Bench: b, Rate: o.Rate, Burst: o.Burst, Rounds: o.Rounds},
		"console":       console.Browsers{Bench: b, Many: o.Browsers, Fires: o.Fires},
		"failover":      disruption.Failover{Bench: b, Rate: o.Rate, Rounds: o.Rounds, Freeze: o.Freeze},
		"rolling":       disruption.Rolling{Bench: b, Rate: o.Rate, Rounds: o.Rounds},
		"restart-store": disruption.RestartStore{Bench: b, Rate: o.Rate, Rounds: o.Rounds, Command: o.RestartCommand},
	}[o.Name]
}
