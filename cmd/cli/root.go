// Package cli is the command line: each command has a file, and none of them
// holds logic of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/access"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/alerts"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/documents"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/groups"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/jobs"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/nodes"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/runs"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/schedules"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/statistics"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// The exit codes of the contract.
const (
	exitGood   = 0
	exitFailed = 1
	exitUsage  = 2
)

// session is what the commands of this machine share: where to write, and what
// the environment says.
type session struct {
	output.Printer
	err     io.Writer
	environ []string
	// file is --config; flags are configuration keys given on the command line.
	file  string
	flags map[string]string
}

// environment is a variable of the environment; empty when it is not set.
func (s *session) environment(name string) string {
	for _, v := range s.environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Execute runs the command line and returns the exit code: 0 good, 1 failed, or
// different where a comparison was asked for, 2 wrong usage.
func Execute(args []string, out, errOut io.Writer, environ []string) int {
	s := &session{Printer: output.Printer{Out: out}, err: errOut, environ: environ, flags: map[string]string{}}
	root := s.rootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would stand for those of the process
	root.SetFlagErrorFunc(usage.FlagErrors(args))
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(context.Background())
	switch {
	case err == nil:
		return exitGood
	case errors.Is(err, usage.ErrDifferent):
		return exitFailed
	case errors.Is(err, usage.ErrWrong):
		_, _ = fmt.Fprintf(errOut, "error: %s\nSee platform-scheduler --help.\n",
			strings.TrimPrefix(err.Error(), usage.ErrWrong.Error()+": "))
		return exitUsage
	default:
		_, _ = fmt.Fprintf(errOut, "error: %v\n", err)
		return exitFailed
	}
}

func (s *session) rootCommand() *cobra.Command {
	root := usage.Parent(&cobra.Command{
		Use:           "platform-scheduler",
		Short:         "A distributed job scheduler whose every planned fire has one recorded outcome",
		Version:       app.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetVersionTemplate("platform-scheduler {{.Version}}\n")
	root.PersistentFlags().StringVar(&s.file, "config", "", "YAML configuration `FILE` (PS_CONFIG)")
	root.AddCommand(s.serverCommand(), s.benchNodeCommand())
	for _, c := range []*cobra.Command{
		s.benchCommand(), s.healthCommand(), s.migrateCommand(), s.configCommand(),
		s.versionCommand(),
	} {
		s.Flag(c)
		root.AddCommand(c)
	}
	r := remote.New(s.Out, s.err, s.environ, clock.NewSystem())
	for _, commands := range [][]*cobra.Command{
		jobs.Commands(r), groups.Commands(r), schedules.Commands(r),
		runs.Commands(r), nodes.Commands(r), documents.Commands(r), access.Commands(r), statistics.Commands(r),
		alerts.Commands(r),
	} {
		for _, c := range commands {
			root.AddCommand(r.Flags(c))
		}
	}
	return root
}

// sources are where the configuration comes from.
func (s *session) sources() config.Options {
	return config.Options{File: s.file, Environ: s.environ, Flags: s.flags}
}

// load reads the configuration and prints its warnings.
func (s *session) load() (config.Config, error) {
	cfg, warnings, err := config.Load(s.sources())
	s.warn(warnings)
	return cfg, err
}

func (s *session) warn(warnings []string) {
	for _, w := range warnings {
		_, _ = fmt.Fprintln(s.err, "warning:", w)
	}
}
