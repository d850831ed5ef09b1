// Package cli is the command line: each command has a file, and none of them holds logic of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/access"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/alerts"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/cluster"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/documents"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/jobs"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/runs"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/workers"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/cmd/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// The exit codes of the contract.
const (
	exitGood   = 0
	exitFailed = 1
	exitUsage  = 2
)

// session is what the commands of this machine share besides those that call the API.
type session struct {
	*remote.Session
	// file is --config; flags are configuration keys given on the command line.
	file  string
	flags map[string]string
}

func newSession(out, errOut io.Writer, environ []string) *session {
	return &session{Session: remote.New(out, errOut, environ, clock.NewSystem()), flags: map[string]string{}}
}

// Execute runs the command line and returns the exit code: 0 good, 1 failed, or
// different where a comparison was asked for, 2 wrong usage.
func Execute(args []string, out, errOut io.Writer, environ []string) int {
	s := newSession(out, errOut, environ)
	return s.execute(s.rootCommand(), args)
}

// ExecuteBench runs the command line of a program that has benches alone, and returns the exit code.
func ExecuteBench(name string, set bench.Set, args []string, out, errOut io.Writer, environ []string) int {
	s := newSession(out, errOut, environ)
	root := s.benchCommand(set)
	root.Use = name + " " + strings.Join(set.Names(), "|")
	s.sourceFlag(root)
	s.Flag(root)
	root.AddCommand(s.benchNodeCommand())
	return s.execute(root, args)
}

// execute runs a command line and returns the exit code.
func (s *session) execute(root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(append([]string{}, args...)) // nil would stand for those of the process
	root.SetFlagErrorFunc(usage.FlagErrors(args))
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(context.Background())
	if failed := s.Failed(); failed != nil {
		err = failed
	}
	switch {
	case err == nil:
		return exitGood
	case errors.Is(err, usage.ErrDifferent):
		return exitFailed
	case errors.Is(err, usage.ErrWrong):
		_, _ = fmt.Fprintf(s.Err, "error: %s\nSee %s --help.\n",
			strings.TrimPrefix(err.Error(), usage.ErrWrong.Error()+": "), root.Name())
		return exitUsage
	default:
		_, _ = fmt.Fprintf(s.Err, "error: %v\n", err)
		return exitFailed
	}
}

func (s *session) rootCommand() *cobra.Command {
	root := usage.Parent(&cobra.Command{
		Use:     "platform-scheduler",
		Short:   "A distributed job scheduler whose every planned fire has one recorded outcome",
		Version: app.Version(),
	})
	root.SetVersionTemplate("platform-scheduler {{.Version}}\n")
	s.sourceFlag(root)
	root.AddCommand(s.serverCommand(), s.benchNodeCommand(), s.benchTargetCommand())
	for _, c := range []*cobra.Command{
		s.benchCommand(bench.Product()), s.healthCommand(), s.migrateCommand(), s.storeCommand(), s.configCommand(),
		s.versionCommand(),
	} {
		s.Flag(c)
		root.AddCommand(c)
	}
	r := s.Session
	offline := workflow.Command(r)
	s.Flag(offline)
	offline.AddCommand(r.Flags(runs.Workflows(r)))
	root.AddCommand(offline)
	for _, c := range slices.Concat(
		jobs.Commands(r), runs.Commands(r), cluster.Commands(r), documents.Commands(r), access.Commands(r),
		alerts.Commands(r), workers.Commands(r),
	) {
		if c.Name() == "worker" {
			s.workerProcess(c)
		}
		root.AddCommand(r.Flags(c))
	}
	return root
}

// sourceFlag adds --config to a command and those below it.
func (s *session) sourceFlag(c *cobra.Command) {
	c.PersistentFlags().StringVar(&s.file, "config", "", "YAML configuration `FILE` (PS_CONFIG)")
}

// sources are where the configuration comes from.
func (s *session) sources() config.Options {
	return config.Options{File: s.file, Environ: s.Environ, Flags: s.flags}
}

// load reads the configuration and prints its warnings.
func (s *session) load() (config.Config, error) {
	cfg, warnings, err := config.Load(s.sources())
	s.warn(warnings)
	return cfg, err
}

func (s *session) warn(warnings []string) {
	for _, w := range warnings {
		_, _ = fmt.Fprintln(s.Err, "warning:", w)
	}
}
