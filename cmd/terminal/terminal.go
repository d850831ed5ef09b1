// Package terminal asks people on a terminal.
package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// Of is the file descriptor of a reader or writer that is a terminal.
func Of(v any) (fd int, ok bool) {
	f, isFile := v.(*os.File)
	if !isFile {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// Colourful reports whether colours are wanted: on a terminal, unless NO_COLOR
// holds anything (no-color.org).
func Colourful(w io.Writer, noColor string) bool {
	_, ok := Of(w)
	return ok && noColor == ""
}

// errLeft ends a command that somebody did not want after all.
var errLeft = errors.New("nothing was changed")

// Question is what stands before a change that cannot be taken back.
type Question struct{ yes bool }

// Flag adds --yes to a command.
func (q *Question) Flag(f *pflag.FlagSet) {
	f.BoolVarP(&q.yes, "yes", "y", false, "do not ask")
}

// Answered reports whether --yes was given.
func (q Question) Answered() bool { return q.yes }

// Ask asks on a terminal whether to go on. Where standard input is none, as in a script, it does not ask.
func (q Question) Ask(to io.Writer, format string, args ...any) error {
	if _, ok := Of(os.Stdin); !ok {
		return nil
	}
	return q.Insist(to, format, args...)
}

// Insist asks whether to go on; without a terminal to ask on it wants --yes.
func (q Question) Insist(to io.Writer, format string, args ...any) error {
	if q.yes {
		return nil
	}
	if _, ok := Of(os.Stdin); !ok {
		return usage.Errorf("there is no terminal to ask on; use --yes")
	}
	_, _ = fmt.Fprintf(to, format+" [y/N] ", args...)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errLeft
}

// Unseen asks for a string without showing it; without is the flag that helps where there is no terminal.
func Unseen(to io.Writer, what, without string) (string, error) {
	in, ok := Of(os.Stdin)
	if !ok {
		return "", fmt.Errorf("there is no terminal to ask for the %s; use %s", what, without)
	}
	_, _ = fmt.Fprintf(to, "%s: ", what)
	data, err := term.ReadPassword(in)
	_, _ = fmt.Fprintln(to)
	return string(data), err
}
