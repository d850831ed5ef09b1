package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// TestMain lets the benches start this program as their nodes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == node.Command {
		main()
	}
	os.Exit(m.Run())
}

// small runs a bench, after which nothing may be left.
func small(t *testing.T, name string, args ...string) report.Result {
	t.Helper()
	dir := t.TempDir()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{"dataDir": dir, "executor.slots": "256"}})
	require.NoError(t, err)
	set, o := makers(), bench.Options{Name: name, Progress: t.Output()}
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	set.Flags(flags, &o)
	require.NoError(t, flags.Parse(append([]string{"--duration", "1s"}, args...)))
	r, err := set.Run(t.Context(), cfg, o)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "the scratch database is gone")
	return r
}

func TestASmallBenchFollowsEveryLine(t *testing.T) {
	t.Parallel() // most of it is waiting
	r := small(t, "tail", "--tails", "25", "--rate", "50")
	require.Equal(t, 26, r.Tail.Tails, "more than one user may follow")
	require.Positive(t, r.Tail.Lines)
	require.Equal(t, r.Planned, r.Tail.Lines)
	require.Zero(t, r.Lost+r.Doubled)
	require.Zero(t, r.Tail.Reconnects)
}

func TestASmallBenchOfTheConsoleReadsPages(t *testing.T) {
	t.Parallel() // most of it is waiting
	// A list that changes all the time is told of every three seconds.
	r := small(t, "console", "--browsers", "8", "--fires", "20", "--duration", "4s")
	c := r.Console
	require.Equal(t, []int{8, 2}, []int{c.Browsers, c.Users})
	require.Positive(t, c.Answers)
	require.Positive(t, c.EventsPerSecond)
	require.Positive(t, c.With.QueriesPerSecond)
	require.Zero(t, c.Errors+c.StreamsLost)
}

func TestWrongUsageNamesThisProgram(t *testing.T) {
	for says, args := range map[string][]string{
		"See makerbench --help": {"speed"}, "--browsers must be 1 to 2000": {"console", "--browsers", "0"},
		"--tails must be 1 to 900": {"tail", "--tails", "1000"},
	} {
		var out bytes.Buffer
		code := cli.ExecuteBench("makerbench", makers(), args, &out, &out, []string{"PS_DATA_DIR=" + t.TempDir()})
		require.NotZero(t, code, says)
		require.Contains(t, out.String(), says)
	}
}

// The pages say by which of these benches each figure was measured.
func TestThePagesShowEachBench(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("`go run ./cmd/makerbench ([^`]+)`").FindAllStringSubmatch(string(raw), -1) {
			args := strings.Fields(m[1])
			require.Contains(t, makers().Names(), args[0], page)
			shown[args[0]] = true
			code := cli.ExecuteBench("makerbench", makers(), append(args, "--help"), io.Discard, io.Discard, nil)
			require.Zero(t, code, "%s: %s", page, m[1])
		}
	}
	require.Len(t, shown, len(makers().Kinds))
}
