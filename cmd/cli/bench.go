package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench"
)

// benchSlots is the default of --slots: enough that the runs of a batch whose
// ends are being stored do not keep the next batch from starting directly.
const benchSlots = 2048

// errBench is a bench that found fires lost or doubled.
var errBench = errors.New("fires were lost or doubled")

func (s *session) benchCommand() *cobra.Command {
	o := bench.Options{Progress: s.err}
	var asJSON bool
	var slots, batch int
	c := &cobra.Command{
		Use:   "bench " + strings.Join(bench.Names(), "|"),
		Short: "Measure this machine: throughput, lateness, stampede, idle, talk, api, tail",
		Long: `Measure the real engine on a scratch database of its own, which is removed
afterwards; the configured one is never opened. An observer outside the
engine's tables counts what was lost and doubled.

  throughput  executions a second, flat out, beside bare batched SQL of the same run
  lateness    handler entry minus due time, at a steady rate
  stampede    many jobs due at one instant; times count from it
  idle        a server with many jobs of which none is due
  talk        throughput beside 500 runs that talk and keep silent in turns
  api         calls at a steady rate beside a firing engine, from their planned moments
  tail        logs followed live: the delay of lines, and whether all come, in order`,
		Example:   "  platform-scheduler bench throughput\n  platform-scheduler bench lateness --rate 1000 --json\n  platform-scheduler bench stampede --jobs 10000\n  platform-scheduler bench idle --jobs 1000000\n  platform-scheduler bench api --rate 200 --fires 200\n  platform-scheduler bench tail --tails 500 --rate 10",
		Args:      usageArgs(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: bench.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			s.flags["executor.slots"] = strconv.Itoa(slots)
			if batch > 0 {
				s.flags["engine.batchSize"] = strconv.Itoa(batch)
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			o.Name = args[0]
			r, err := bench.Run(c.Context(), cfg, o)
			if err != nil {
				return err
			}
			if asJSON {
				err = r.WriteJSON(s.out)
			} else {
				err = r.WriteTable(s.out)
			}
			if err == nil && r.Lost+r.Doubled > 0 {
				err = fmt.Errorf("%w: %d lost, %d doubled of %d", errBench, r.Lost, r.Doubled, r.Planned)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.DurationVar(&o.Duration, "duration", 0, "measure for `TIME` after the warm-up (20s; api 1m, tail 30s)")
	f.IntVar(&o.Jobs, "jobs", 0, "number of jobs of stampede (10000) and idle (0)")
	f.IntVar(&o.Rate, "rate", 0, "fires a second of lateness (1000), calls a second of api (200), lines a second of each of tail's runs (10)")
	f.IntVar(&o.Fires, "fires", 200, "fires a second beside the calls of api")
	f.IntVar(&o.Tails, "tails", 500, "logs that tail follows at once")
	f.IntVar(&slots, "slots", benchSlots, "runs at once")
	f.IntVar(&batch, "batch", 0, "fires of one transaction (engine.batchSize)")
	f.BoolVar(&o.Ceiling, "ceiling", true, "measure bare SQL beside throughput")
	f.BoolVar(&o.Coordinated, "coordinated", true, "measure coordinated jobs beside throughput")
	f.StringVar(&o.Profile, "cpuprofile", "", "write a CPU profile of the measured span to `FILE`")
	slices.Sort(c.ValidArgs)
	return c
}
