// Command platform-scheduler is the distributed job scheduling platform: one
// binary that is server, migration tool, bench and client.
package main

import (
	"os"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/collector"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/initproc"
)

// runsAlone reports whether a command line is that of a server or of a worker, which may be the first process of a
// container.
func runsAlone(args []string) bool {
	return len(args) > 1 && args[1] == "server" || len(args) > 2 && args[1] == "worker" && strings.HasPrefix(args[2], "-")
}

func main() {
	// The helper of commands is this binary too. It needs nothing of the rest.
	if len(os.Args) > 1 && os.Args[1] == executors.HelperCommand {
		if err := supervise.Main(os.Args[2:]); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	// The first process of a container has tasks that a server cannot do.
	if runsAlone(os.Args) && initproc.Needed(os.Getpid(), os.Environ()) {
		code, err := initproc.Run(os.Args[1:], os.Environ())
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		collector.Follow(clock.NewSystem().Monotonic)
	}
	os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr, initproc.Environ(os.Environ())))
}
