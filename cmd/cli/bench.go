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

// benchSlots is the default of --slots, but for benches of the slots that are configured. It is enough
// that a batch whose ends are being stored does not keep the next one from starting directly.
const benchSlots = 2048

var (
	// errBench is a bench that found fires lost or doubled.
	errBench = errors.New("fires were lost or doubled")
	// errPromise is a bench that found something worse than promised.
	errPromise = errors.New("a promise was broken")
)

// benchCommand runs the benches of a set.
func (s *session) benchCommand(set bench.Set) *cobra.Command {
	o := bench.Options{Progress: s.Err}
	var asJSON bool
	var settings benchSettings
	abouts := ""
	for _, k := range set.Kinds {
		abouts += fmt.Sprintf("  %-14s %s\n", k.Name, k.About)
	}
	c := &cobra.Command{
		Use:   "bench " + strings.Join(set.Names(), "|"),
		Short: "Measure this machine: throughput, lateness, stampede, failover, and more",
		Long: `Measure the real engine on a scratch database of its own, which is removed
afterwards; the configured one is never opened. Where kafka.brokers are set, events
go to scratch topics there, which are deleted, too. An observer outside the
engine's tables counts what was lost and doubled.

` + abouts + "\n" + set.Notes,
		Example:   set.Example,
		Args:      usage.Args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: set.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.Check(); err != nil {
				return err
			}
			if asJSON {
				s.Format = output.JSON
			}
			o.Name = args[0]
			if settings.slots == 0 && !set.OwnSlots(o.Name) {
				settings.slots = benchSlots
			}
			settings.into(s.flags, set.Clustered(o.Name, o.Nodes))
			cfg, err := s.load()
			if err != nil {
				return err
			}
			// The first Ctrl-C ends the bench in order, the second at once.
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop)
			r, err := set.Run(ctx, cfg, o)
			if err != nil {
				return err
			}
			return s.printBench(r)
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object, as --output json does")
	set.Flags(f, &o)
	if slices.ContainsFunc(set.Kinds, func(k bench.Kind) bool { return k.Several || k.Clustered }) {
		f.StringVar(&settings.redis, "redis", "", "Redis of the nodes at `HOST:PORT` (redis.addrs)")
		f.IntVar(&settings.lease, "lease-ms", 0, "lease of the nodes, a beat being a sixth of it (engine.leaseMs)")
	}
	f.IntVar(&settings.slots, "slots", 0, fmt.Sprintf("runs at once, on each node (%d; http executor.slots)", benchSlots))
	f.IntVar(&settings.batch, "batch", 0, "fires of one transaction (engine.batchSize)")
	f.StringVar(&o.Profile, "cpuprofile", "", "write a CPU profile of the measured span to `FILE`")
	slices.Sort(c.ValidArgs)
	return c
}

func (s *session) printBench(r report.Result) error {
	var err error
	if s.ForPeople() {
		err = r.WriteTable(s)
	} else {
		s.Value(r)
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

func (b benchSettings) into(flags map[string]string, clustered bool) {
	if b.slots != 0 {
		flags["executor.slots"] = strconv.Itoa(b.slots)
	}
	if b.batch > 0 {
		flags["engine.batchSize"] = strconv.Itoa(b.batch)
	}
	if b.redis != "" {
		flags["redis.addrs"] = b.redis
	}
	if b.lease > 0 {
		flags["engine.leaseMs"], flags["engine.beatMs"] = strconv.Itoa(b.lease), strconv.Itoa(b.lease/6)
	}
	if clustered {
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

// benchTargetCommand is what a bench of HTTP jobs starts; it is of no use to people.
func (s *session) benchTargetCommand() *cobra.Command {
	return &cobra.Command{
		Use: node.TargetCommand, Short: "Run the server that a bench calls", Hidden: true, Args: usage.Args(cobra.NoArgs),
		Example: `  echo '{"Hosts": 1}' | platform-scheduler bench-target`,
		RunE: func(c *cobra.Command, _ []string) error {
			return node.RunTarget(c.Context(), os.Stdin, os.Stdout)
		},
	}
}
