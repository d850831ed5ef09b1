// Package remote holds what the commands share that call the REST API. It knows the server and the
// token, how times are read and shown, and how objects are found.
package remote

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// The variables that stand in for a context.
const (
	serverVariable = "PLATFORM_SCHEDULER_SERVER"
	tokenVariable  = "PLATFORM_SCHEDULER_TOKEN"
	caFileVariable = "PLATFORM_SCHEDULER_CA_FILE"
)

// DefaultServer is where a standalone server listens.
const DefaultServer = "http://127.0.0.1:8080"

// Session is what one call of the command line shares. It belongs to one
// goroutine.
type Session struct {
	output.Printer
	Err     io.Writer
	Environ []string
	Clock   clock.Clock

	server, context, caFile string
	utc                     bool
}

// New makes a session.
func New(out, errOut io.Writer, environ []string, c clock.Clock) *Session {
	return &Session{Printer: output.Printer{Out: out}, Err: errOut, Environ: environ, Clock: c}
}

// Flags adds to a command the flags that all of these have.
func (s *Session) Flags(c *cobra.Command) *cobra.Command {
	f := c.PersistentFlags()
	f.StringVar(&s.server, "server", "", "address of the server, such as "+DefaultServer)
	f.StringVar(&s.context, "context", "", "context to use instead of the current one")
	f.StringVar(&s.caFile, "ca-file", "", "trust the certificates in `FILE` too ("+caFileVariable+")")
	f.BoolVar(&s.utc, "utc", false, "show times in UTC")
	s.Flag(c)
	return c
}

// Environment is a variable of the environment; empty when it is not set.
func (s *Session) Environment(name string) string {
	for _, v := range s.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Context is the value of --context; empty for the current one.
func (s *Session) Context() string { return s.context }

// Notef prints a note for people beside the output.
func (s *Session) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Err, format+"\n", args...)
}

// contextsFile is where the contexts of this person are kept.
func (s *Session) contextsFile() (string, error) {
	folder := s.Environment("XDG_CONFIG_HOME")
	if folder == "" {
		home := s.Environment("HOME")
		if home == "" {
			return "", errors.New("the folder of contexts is unknown: set HOME or XDG_CONFIG_HOME")
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "platform-scheduler", "contexts.yaml"), nil
}

// Contexts are the servers that this person speaks to.
func (s *Session) Contexts() (*client.Contexts, error) {
	file, err := s.contextsFile()
	if err != nil {
		return nil, err
	}
	return client.OpenContexts(file)
}

// Client speaks to the server that flags, environment or context name.
func (s *Session) Client() (*client.Client, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	known, ok, err := s.known()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("not signed in: run platform-scheduler login, or set " + serverVariable + " and " +
			tokenVariable)
	}
	server, err := Address(known.Server)
	if err != nil {
		return nil, err
	}
	if s.server != "" {
		asked, err := Address(s.server)
		if err != nil {
			return nil, err
		}
		if asked != server && known.name != "" {
			return nil, fmt.Errorf("the token of the context is for %s; run platform-scheduler login --server %s first", server,
				asked)
		}
		server = asked
	}
	return s.Connect(Target{Server: server, CAFile: s.caOf(known.Context)}, known.Token)
}

// named is a context and its name; the one that the environment stands in for
// has none.
type named struct {
	client.Context
	name string
}

// known is the context of --context, of the environment, or the current one. ok is false when
// there is none of them.
func (s *Session) known() (known named, ok bool, err error) {
	if token := s.Environment(tokenVariable); token != "" && s.context == "" {
		return named{Context: client.Context{Server: s.Environment(serverVariable), Token: token}}, true, nil
	}
	contexts, err := s.Contexts()
	if err != nil {
		return known, false, err
	}
	known.name = contexts.Current
	if s.context != "" {
		known.name = s.context
	}
	known.Context, ok = contexts.Contexts[known.name]
	if !ok && s.context != "" {
		return known, false, fmt.Errorf("there is no context %q; see platform-scheduler context list", known.name)
	}
	return known, ok, nil
}

// Connect makes the client of a server.
func (s *Session) Connect(t Target, token string) (*client.Client, error) {
	c := &client.Client{Server: t.Server, Token: token}
	if t.CAFile == "" {
		return c, nil
	}
	var err error
	c.HTTP, err = client.Trusting(t.CAFile)
	return c, err
}

// caOf names the certificates to trust besides those of the machine: what the
// flag, the environment, or the context says.
func (s *Session) caOf(known client.Context) string {
	for _, file := range []string{s.caFile, s.Environment(caFileVariable), known.CAFile} {
		if file == "" {
			continue
		}
		if whole, err := filepath.Abs(file); err == nil {
			file = whole // a context is used from other folders, too
		}
		return file
	}
	return ""
}

// Segment is a name or an id as one segment of a path.
func Segment(name string) string { return url.PathEscape(name) }

// Deref is a string that may be absent.
func Deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Secret reads a password or another secret from a file, without the line's end.
func Secret(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// Password reads a password from a file, or asks for it without showing it.
func (s *Session) Password(file, who string) (string, error) {
	if file != "" {
		return Secret(file)
	}
	return terminal.Unseen(s.Err, "password of "+who, "--password-file")
}
