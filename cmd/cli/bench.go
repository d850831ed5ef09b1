package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// benchSlots is the default of --slots. It is enough that a batch whose ends are being stored does
// not keep the next one from starting directly.
const benchSlots = 2048

var (
	// errBench is a bench that found fires lost or doubled.
	errBench = errors.New("fires were lost or doubled")
	// errPromise is a bench that found something worse than promised.
	errPromise = errors.New("a promise was broken")
)

func (s *session) benchCommand() *cobra.Command {
	o := bench.Options{Progress: s.err}
	var asJSON bool
	var settings benchSettings
	c := &cobra.Command{
		Use:   "bench " + strings.Join(bench.Names(), "|"),
		Short: "Measure this machine: throughput, lateness, stampede, failover, and more",
		Long: `Measure the real engine on a scratch database of its own, which is removed
afterwards; the configured one is never opened. Where kafka.brokers are set, events
go to scratch topics there, which are deleted, too. An observer outside the
engine's tables counts what was lost and doubled.

  throughput     executions a second, flat out, beside bare batched SQL of the same run
  lateness       handler entry minus due time, at a steady rate
  stampede       many jobs due at one instant; times count from it
  idle           a server with many jobs of which none is due
  talk           throughput beside 500 runs that talk and keep silent in turns
  api            calls at a steady rate beside a firing engine, from their planned moments
  tail           logs followed live: the delay of lines, and whether all come, in order
  alerts         failures until their webhooks arrive: the delay, and a burst of them
  storm          what failures cost the other runs: calm, told, and told to a receiver that is down
  console        browsers with the overview open: what they add to a server that fires
  failover       a node of three is lost under load: when its fires and its runs go on
  rolling        the nodes are restarted under load, one after the other
  restart-store  the store is restarted under load, by --restart-command

The last three, and the first four and alerts with --nodes, start each node as a process
of its own; they need MySQL or MariaDB and Redis (PS_STORE_DSN, --redis).`,
		Example: `  platform-scheduler bench throughput
  platform-scheduler bench lateness --rate 1000 --json
  platform-scheduler bench stampede --jobs 100000 --nodes 3 --redis 127.0.0.1:6379
  platform-scheduler bench idle --jobs 1000000
  platform-scheduler bench api --rate 200 --fires 200
  platform-scheduler bench tail --tails 500 --rate 10
  platform-scheduler bench alerts --burst 10000
  PS_KAFKA_BROKERS=127.0.0.1:9092 platform-scheduler bench alerts
  platform-scheduler bench storm --rate 10000 --rounds 15
  platform-scheduler bench console --browsers 1000
  platform-scheduler bench failover --rounds 5 --redis 127.0.0.1:6379`,
		Args:      usage.Args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: bench.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			if asJSON {
				s.Format = output.JSON
			}
			o.Name = args[0]
			settings.into(s.flags, o)
			cfg, err := s.load()
			if err != nil {
				return err
			}
			// The first Ctrl-C ends the bench in order, the second at once.
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop)
			r, err := bench.Run(ctx, cfg, o)
			if err != nil {
				return err
			}
			return s.printBench(r)
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object, as --output json does")
	f.DurationVar(&o.Duration, "duration", 0, "measure for `TIME` after the warm-up (20s; api and console 1m, tail and alerts 30s)")
	f.IntVar(&o.Jobs, "jobs", 0,
		"number of jobs of stampede (10000), idle (0), the burst of alerts (a tenth of it) and lateness, where those "+
			"beyond the rate are never due")
	f.IntVar(&o.Rate, "rate", 0,
		"fires a second of lateness (1000), storm (5000), and of failover, rolling and restart-store (300), calls a "+
			"second of api (200), "+
			"lines a second of each of tail's runs (10), failures a second of alerts (10)")
	f.IntVar(&o.Fires, "fires", 0, "fires a second beside the calls of api (200) and the browsers of console (20)")
	f.IntVar(&o.Browsers, "browsers", 1000, "browsers of console that have the overview open")
	f.IntVar(&o.Tails, "tails", 500, "logs that tail follows at once")
	f.IntVar(&o.Burst, "burst", 10_000, "failures of alerts that come within a minute, failures a minute of storm")
	f.IntVar(&o.Nodes, "nodes", 0, "processes on one store (1; failover, rolling and restart-store 3)")
	f.IntVar(&o.Rounds, "rounds", 0, "times that failover, rolling (3) and restart-store (1) disturb, turns of storm (3)")
	f.BoolVar(&o.Freeze, "freeze", false, "failover stops the node where it is, and lets it go on when it is DOWN")
	f.StringVar(&o.RestartCommand, "restart-command", "", "`COMMAND` of /bin/sh by which restart-store restarts the store")
	f.IntVar(&o.History, "history", 0, "ended runs that throughput and lateness find in the store")
	f.StringVar(&settings.redis, "redis", "", "Redis of the nodes at `HOST:PORT` (redis.addrs)")
	f.IntVar(&settings.lease, "lease-ms", 0, "lease of the nodes, a beat being a sixth of it (engine.leaseMs)")
	f.IntVar(&settings.slots, "slots", benchSlots, "runs at once, on each node")
	f.IntVar(&settings.batch, "batch", 0, "fires of one transaction (engine.batchSize)")
	f.BoolVar(&o.Ceiling, "ceiling", true, "measure bare SQL beside throughput")
	f.BoolVar(&o.Coordinated, "coordinated", true, "measure coordinated jobs beside throughput")
	f.StringVar(&o.Profile, "cpuprofile", "", "write a CPU profile of the measured span to `FILE`")
	slices.Sort(c.ValidArgs)
	return c
}

func (s *session) printBench(r report.Result) error {
	var err error
	if s.ForPeople() {
		err = r.WriteTable(s.Out)
	} else {
		err = s.Value(r)
	}
	if err == nil && r.Lost+r.Doubled > 0 {
		err = fmt.Errorf("%w: %d lost, %d doubled of %d", errBench, r.Lost, r.Doubled, r.Planned)
	}
	if broken := r.Broken(); err == nil && len(broken) > 0 {
		err = fmt.Errorf("%w: %s", errPromise, strings.Join(broken, "; "))
	}
	return err
}

// benchSettings are flags that stand for keys of the configuration.
type benchSettings struct {
	redis               string
	lease, slots, batch int
}

func (b benchSettings) into(flags map[string]string, o bench.Options) {
	flags["executor.slots"] = strconv.Itoa(b.slots)
	if b.batch > 0 {
		flags["engine.batchSize"] = strconv.Itoa(b.batch)
	}
	if b.redis != "" {
		flags["redis.addrs"] = b.redis
	}
	if b.lease > 0 {
		flags["engine.leaseMs"], flags["engine.beatMs"] = strconv.Itoa(b.lease), strconv.Itoa(b.lease/6)
	}
	if bench.Clustered(o.Name, o.Nodes) {
		flags["profile"] = config.ProfileCluster
	}
}

// benchNodeCommand is what the benches start; it is of no use to people.
func (s *session) benchNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use: node.Command, Short: "Run a node for a bench", Hidden: true, Args: usage.Args(cobra.NoArgs),
		Example: "  platform-scheduler bench-node < settings.json",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return node.Run(ctx, os.Stdin, os.Stdout, os.Stderr)
		},
	}
}
