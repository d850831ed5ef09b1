// Package usage judges how the program is called, and says what was probably meant.
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

// The outcomes that have an exit code of their own.
var (
	// ErrWrong marks errors of the command line itself: exit code 2.
	ErrWrong = errors.New("wrong usage")
	// ErrDifferent ends a comparison that found differences, all of which have
	// been printed: exit code 1, and no message.
	ErrDifferent = errors.New("there are differences")
)

// Errorf makes an error of the command line.
func Errorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrWrong}, args...)...)
}

// Args marks the complaint of an argument check as wrong usage.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return fmt.Errorf("%w: %w", ErrWrong, err)
		}
		return nil
	}
}

// Parent makes a command that only holds others. Alone it shows its help. An unknown word after it
// is answered with the command that was probably meant.
func Parent(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(c, args[0])
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return Errorf("unknown command %q for %q%s", name, c.CommandPath(), meant(spelling.Nearest(name, names)))
}

// FlagErrors makes what says what is wrong with a flag of a command line, and which one was probably meant.
// A flag of a command that does not exist is answered with the command that was meant.
func FlagErrors(args []string) func(c *cobra.Command, err error) error {
	return func(c *cobra.Command, err error) error {
		_, rest, _ := c.Root().Find(args) // what follows the command
		if c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return unknownCommand(c, rest[0])
		}
		return flagError(c, err)
	}
}

func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w: %w%s", ErrWrong, err, meant(spelling.Nearest("--"+unknown.GetSpecifiedName(), names)))
}

func meant(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}
