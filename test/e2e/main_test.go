package e2e_test

import (
	"os"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
)

// asServer makes this test binary the product, so that it can be killed.
const asServer = "PS_E2E_AS_SERVER"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == executors.HelperCommand:
		if err := supervise.Main(os.Args[2:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case os.Getenv(asServer) != "":
		fewFiles()
		os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(m.Run())
}
