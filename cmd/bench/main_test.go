package bench_test

import (
	"os"
	"slices"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

// TestMain lets the benches start this program as their nodes and servers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{node.Command, node.TargetCommand, "server"}, os.Args[1]) {
		os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(m.Run())
}
