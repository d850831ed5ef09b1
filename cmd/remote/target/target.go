// Package target says which server the command line calls, and in whose name.
package target

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// The variables that stand in for a context.
const (
	serverVariable = "PLATFORM_SCHEDULER_SERVER"
	tokenVariable  = "PLATFORM_SCHEDULER_TOKEN"
	caFileVariable = "PLATFORM_SCHEDULER_CA_FILE"
)

// Choice is what says which server is called: flags, the environment, and contexts.
type Choice struct {
	Environ []string

	server, context, caFile string
}

// Flags adds the flags that choose.
func (s *Choice) Flags(f *pflag.FlagSet) {
	f.StringVar(&s.server, "server", "", "address of the server, such as "+client.DefaultServer)
	f.StringVar(&s.context, "context", "", "context to use instead of the current one")
	f.StringVar(&s.caFile, "ca-file", "", "trust the certificates in `FILE` too ("+caFileVariable+")")
}

// Environment is a variable of the environment; empty when it is not set.
func (s *Choice) Environment(name string) string {
	for _, v := range s.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Context is the value of --context; empty for the current one.
func (s *Choice) Context() string { return s.context }

// Contexts are the servers that this person speaks to.
func (s *Choice) Contexts() (*client.Contexts, error) {
	folder, home := s.Environment("XDG_CONFIG_HOME"), s.Environment("HOME")
	if folder == "" && home == "" {
		return nil, errors.New("the folder of contexts is unknown: set HOME or XDG_CONFIG_HOME")
	}
	folder = cmp.Or(folder, filepath.Join(home, ".config"))
	return client.OpenContexts(filepath.Join(folder, "platform-scheduler", "contexts.yaml"))
}

// Client speaks to the server that flags, environment or context name.
func (s *Choice) Client() (*client.Client, error) {
	known, ok, err := s.known()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("not signed in: run platform-scheduler login, or set " + serverVariable + " and " +
			tokenVariable)
	}
	server, err := client.Address(known.Server)
	if err != nil {
		return nil, err
	}
	if s.server != "" {
		asked, err := client.Address(s.server)
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

// named is a context and its name; the one that the environment stands in for has none.
type named struct {
	client.Context
	name string
}

// known is the context of --context, of the environment, or the current one. ok is false when
// there is none of them.
func (s *Choice) known() (known named, ok bool, err error) {
	if token := s.Environment(tokenVariable); token != "" && s.context == "" {
		return named{Context: client.Context{Server: s.Environment(serverVariable), Token: token}}, true, nil
	}
	contexts, err := s.Contexts()
	if err != nil {
		return known, false, err
	}
	known.name = cmp.Or(s.context, contexts.Current)
	known.Context, ok = contexts.Contexts[known.name]
	if !ok && s.context != "" {
		return known, false, fmt.Errorf("there is no context %q; see platform-scheduler context list", known.name)
	}
	return known, ok, nil
}

// Connect makes the client of a server.
func (s *Choice) Connect(t Target, token string) (*client.Client, error) {
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
func (s *Choice) caOf(known client.Context) string {
	file := cmp.Or(s.caFile, s.Environment(caFileVariable), known.CAFile)
	if whole, err := filepath.Abs(file); err == nil && file != "" {
		return whole // a context is used from other folders, too
	}
	return file
}

// Target is a server that somebody sends a password to.
type Target struct {
	Server, Username string
	// CAFile holds certificates to trust besides those of the machine.
	CAFile string
}

// Target says to which server, and whose, a password is sent where something is done that a token may not
// do: those of the context. A context's password is sent nowhere else, whatever else names a server.
// Without a context it is what flags and environment say.
func (s *Choice) Target(username string) (Target, error) {
	known, ok, err := s.known()
	if err != nil {
		return Target{}, err
	}
	asked := cmp.Or(s.server, s.Environment(serverVariable))
	if !ok {
		return s.target(asked, username, client.Context{})
	}
	t, err := s.target(known.Server, username, known.Context)
	if err != nil || asked == "" {
		return t, err
	}
	other, err := client.Address(asked)
	if err == nil && other != t.Server {
		err = fmt.Errorf("the context is for %s, and its password is sent nowhere else: choose a context of %s with "+
			"--context, or run platform-scheduler login --server %s", t.Server, other, other)
	}
	return t, err
}

// NewTarget is the server that somebody signs in to: the one that --server or
// the environment names, else that of the context.
func (s *Choice) NewTarget(username string) (Target, error) {
	contexts, err := s.Contexts()
	if err != nil {
		return Target{}, err
	}
	known := contexts.Contexts[cmp.Or(s.context, contexts.Current)]
	asked := s.server
	if asked == "" && s.context == "" {
		asked = s.Environment(serverVariable)
	}
	if asked == "" {
		return s.target(known.Server, username, known)
	}
	server, err := client.Address(asked)
	if err != nil {
		return Target{}, err
	}
	if before, err := client.Address(known.Server); err != nil || before != server {
		known = client.Context{} // of another server: neither its user nor what it trusts
	}
	return s.target(server, username, known)
}

func (s *Choice) target(server, username string, known client.Context) (Target, error) {
	whole, err := client.Address(server)
	return Target{Server: whole, Username: cmp.Or(username, known.User, firstUser), CAFile: s.caOf(known)}, err
}

// firstUser is the one that every server has.
const firstUser = "admin"
