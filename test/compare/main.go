// Command compare measures two builds of platform-scheduler in turns, and says
// by how much the new one is dearer than the old one.
//
// A turn runs the same bench once with each build, in random order. So a machine that grows slower
// or faster does so for both. Of each figure it prints the median of the turns' ratios, new to
// old. It also prints the interval that holds this median with 95 %. It judges nothing:
// docs/performance.md says what is allowed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// turnLimit ends a bench that hangs.
const turnLimit = 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	older := flags.String("old", "", "binary of the build before")
	newer := flags.String("new", "", "binary of this build")
	turns := flags.Int("turns", 15, "turns of each build")
	server := flags.Int("server", 0, "pid of a database server on this machine, whose CPU counts, too")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the order of builds, and of the intervals")
	flags.Usage = func() {
		_, _ = fmt.Fprintln(flags.Output(),
			"usage: compare -old FILE -new FILE [-turns N] [-seed N] [-server PID] throughput|lateness|stampede [flags "+
				"of bench]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *older == "" || *newer == "" || flags.NArg() == 0 || *turns < 2 {
		flags.Usage()
		return errors.New("two binaries, a bench and at least two turns are needed")
	}
	figures, known := figuresOf[flags.Arg(0)]
	if !known {
		return fmt.Errorf("no figures are known of bench %q", flags.Arg(0))
	}
	if *server != 0 {
		figures = append(figures, serverCPU)
	}
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // an order, not a secret
	fmt.Printf("seed %d; %d turns of bench %s\n", *seed, *turns, strings.Join(flags.Args(), " "))
	pairs := make([]pair, 0, *turns)
	for turn := range *turns {
		var p pair
		order := []struct {
			binary string
			into   *result
		}{{*older, &p.old}, {*newer, &p.new}}
		if random.IntN(2) == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for _, o := range order {
			r, err := bench(ctx, o.binary, flags.Args(), *server)
			if err != nil {
				return fmt.Errorf("turn %d, %s: %w", turn+1, o.binary, err)
			}
			*o.into = r
		}
		pairs = append(pairs, p)
		fmt.Printf("turn %2d: %s\n", turn+1, p.text(figures))
	}
	for _, f := range figures {
		fmt.Println(summary(f, pairs, random))
	}
	return nil
}

// bench runs one bench, and reads what it measured.
func bench(ctx context.Context, binary string, args []string, server int) (result, error) {
	before, err := ticksOf(server)
	if err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary,
		append([]string{"bench", "--json"}, args...)...) //nolint:gosec // the builds to compare
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return result{}, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return result{}, err
	}
	var r result
	if err := json.Unmarshal(out, &r); err != nil {
		return r, err
	}
	after, err := ticksOf(server)
	r.ServerTicks = after - before
	return r, err
}

// ticksOf is the CPU that a process has used, in ticks of 10 ms; none of pid 0.
func ticksOf(pid int) (int, error) {
	if pid == 0 {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in brackets may hold spaces; utime and stime are fields 14 and 15.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return user + system, err
}
