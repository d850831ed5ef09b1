// Command platform-scheduler is the distributed job scheduling platform: one
// binary that is server, migration tool, bench and client.
package main

import (
	"os"
	"runtime/debug"

	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

// gcPercent trades memory for the collector's time: the engine's live heap is
// small, and at 20,000 runs a second the collector took a seventh of the CPU.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}
