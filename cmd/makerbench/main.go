// Command makerbench has the benches that makers of the product need: their figures stand in
// docs/performance.md. The benches of users are `platform-scheduler bench`.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
	"github.com/platform-scheduler/platform-scheduler/cmd/makerbench/internal/console"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func main() {
	os.Exit(cli.ExecuteBench("makerbench", makers(), os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}

// makers is the benches of this program.
func makers() bench.Set {
	var browsers, tails int
	return bench.Set{
		Kinds: []bench.Kind{
			{
				Name: "owntable", About: "throughput beside our own tables and statements without the engine",
				Make: func(b *rig.Bench, _ config.Config, _ bench.Options) bench.Workload { return ownTable{b} },
			},
			{
				Name: "talk", About: "throughput beside 500 runs that talk and keep silent in turns",
				Make: func(b *rig.Bench, _ config.Config, _ bench.Options) bench.Workload { return talk{b} },
			},
			{
				Name: "tail", About: "logs followed live: the delay of lines, and whether all come, in order",
				Defaults: bench.Options{Duration: 30 * time.Second, Rate: 10},
				Check: func(bench.Options) error {
					if tails < 1 || tails > maxTails {
						return fmt.Errorf("--tails must be 1 to %d", maxTails)
					}
					return nil
				},
				Make: func(b *rig.Bench, _ config.Config, o bench.Options) bench.Workload {
					return logs{Bench: b, Tails: tails, Rate: o.Rate}
				},
			},
			{
				Name: "console", About: "browsers with the overview open: what they add to a server that fires", Alone: true,
				Defaults: bench.Options{Duration: time.Minute, Fires: 20},
				Check: func(bench.Options) error {
					if browsers < 1 || browsers > console.MaxBrowsers {
						return fmt.Errorf("--browsers must be 1 to %d", console.MaxBrowsers)
					}
					return nil
				},
				Configure: func(cfg config.Config) (config.Config, error) { return console.Configure(cfg, browsers), nil },
				Make: func(b *rig.Bench, _ config.Config, o bench.Options) bench.Workload {
					return console.Browsers{Bench: b, Many: browsers, Fires: o.Fires}
				},
			},
		},
		Example: `  makerbench owntable
  makerbench talk --duration 40s
  makerbench tail --tails 500 --rate 10
  makerbench console --browsers 1000`,
		Flags: func(f *pflag.FlagSet, o *bench.Options) {
			f.DurationVar(&o.Duration, "duration", 0, "measure for `TIME` after the warm-up (20s; tail 30s, console 1m)")
			f.IntVar(&o.Rate, "rate", 0, "lines a second of each of tail's runs (10)")
			f.IntVar(&tails, "tails", 500, "logs that tail follows at once")
			f.IntVar(&browsers, "browsers", 1000, "browsers of console that have the overview open")
			f.IntVar(&o.Fires, "fires", 0, "fires a second beside the browsers of console (20)")
		},
	}
}
