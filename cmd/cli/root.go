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

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// The exit codes of the contract.
const (
	exitGood   = 0
	exitFailed = 1
	exitUsage  = 2
)

// session is what the commands share: where to write, and what the
// environment says.
type session struct {
	out, err io.Writer
	environ  []string
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

// errUsage marks errors of the command line itself.
var errUsage = errors.New("wrong usage")

// Execute runs the command line and returns the exit code: 0 good, 1 failed,
// 2 wrong usage.
func Execute(args []string, out, errOut io.Writer, environ []string) int {
	s := &session{out: out, err: errOut, environ: environ, flags: map[string]string{}}
	root := s.rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(context.Background())
	switch {
	case err == nil:
		return exitGood
	case isUsage(err):
		_, _ = fmt.Fprintf(errOut, "error: %s\nSee platform-scheduler --help.\n", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return exitUsage
	default:
		_, _ = fmt.Fprintf(errOut, "error: %v\n", err)
		return exitFailed
	}
}

// isUsage also knows the errors that cobra makes for unknown commands.
func isUsage(err error) bool {
	return errors.Is(err, errUsage) || strings.HasPrefix(err.Error(), "unknown command")
}

func (s *session) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "platform-scheduler",
		Short:         "A distributed job scheduler whose every planned fire has one recorded outcome",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	root.PersistentFlags().StringVar(&s.file, "config", "", "YAML configuration `FILE` (PS_CONFIG)")
	root.AddCommand(s.serverCommand(), s.healthCommand(), s.migrateCommand(), s.configCommand(), s.benchCommand(), s.benchNodeCommand(), s.versionCommand())
	root.AddCommand(s.remoteCommands()...)
	return root
}

// usageArgs marks the complaint of an argument check as wrong usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		return nil
	}
}

// load reads the configuration and prints its warnings.
func (s *session) load() (config.Config, error) {
	cfg, warnings, err := config.Load(config.Options{File: s.file, Environ: s.environ, Flags: s.flags})
	for _, w := range warnings {
		_, _ = fmt.Fprintln(s.err, "warning:", w)
	}
	return cfg, err
}
