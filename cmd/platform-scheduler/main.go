// Command platform-scheduler is the distributed job scheduling platform: one
// binary that is server, migration tool, bench and client.
package main

import (
	"os"

	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

func main() {
	os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}
