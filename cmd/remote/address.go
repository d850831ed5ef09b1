package remote

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// Address completes what somebody typed for a server. Without a scheme it is
// http on this machine, where nobody can listen in, and https elsewhere.
func Address(typed string) (string, error) {
	if typed == "" {
		return DefaultServer, nil
	}
	text := typed
	if !strings.Contains(text, "://") {
		scheme := "https"
		if onThisMachine(hostOf(text)) {
			scheme = "http"
		}
		text = scheme + "://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "", usage.Errorf("%q is not the address of a server; write it like https://scheduler.example.com or "+
			"127.0.0.1:8080", typed)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", usage.Errorf("the address of a server has neither a user nor a query; write it like " +
			"https://scheduler.example.com")
	}
	return strings.TrimRight(u.Scheme+"://"+strings.ToLower(u.Host)+u.Path, "/"), nil
}

// hostOf is the host of host:port/path.
func hostOf(text string) string {
	text, _, _ = strings.Cut(text, "/")
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return strings.Trim(text, "[]")
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Target is a server that somebody sends a password to.
type Target struct {
	Server, Username string
	// CAFile holds certificates to trust besides those of the machine.
	CAFile string
}

// Target says to which server, and whose, a password is sent where something is
// done that a token may not do: those of the context. A context's password is
// sent nowhere else, whatever else names a server. Without a context it is what
// flags and environment say.
func (s *Session) Target(username string) (Target, error) {
	known, ok, err := s.known()
	if err != nil {
		return Target{}, err
	}
	asked := s.server
	if asked == "" {
		asked = s.Environment(serverVariable)
	}
	if !ok {
		return s.target(asked, username, client.Context{})
	}
	t, err := s.target(known.Server, username, known.Context)
	if err != nil || asked == "" {
		return t, err
	}
	other, err := Address(asked)
	if err == nil && other != t.Server {
		err = fmt.Errorf("the context is for %s, and its password is sent nowhere else: choose a context of %s with "+
			"--context, or run platform-scheduler login --server %s", t.Server, other, other)
	}
	return t, err
}

// NewTarget is the server that somebody signs in to: the one that --server or
// the environment names, else that of the context.
func (s *Session) NewTarget(username string) (Target, error) {
	contexts, err := s.Contexts()
	if err != nil {
		return Target{}, err
	}
	name := contexts.Current
	if s.context != "" {
		name = s.context
	}
	known := contexts.Contexts[name]
	asked := s.server
	if asked == "" && s.context == "" {
		asked = s.Environment(serverVariable)
	}
	if asked == "" {
		return s.target(known.Server, username, known)
	}
	server, err := Address(asked)
	if err != nil {
		return Target{}, err
	}
	if before, err := Address(known.Server); err != nil || before != server {
		known = client.Context{} // of another server: neither its user nor what it trusts
	}
	return s.target(server, username, known)
}

func (s *Session) target(server, username string, known client.Context) (Target, error) {
	whole, err := Address(server)
	t := Target{Server: whole, Username: username, CAFile: s.caOf(known)}
	if t.Username == "" {
		t.Username = known.User
	}
	if t.Username == "" {
		t.Username = firstUser
	}
	return t, err
}

// firstUser is the one that every server has.
const firstUser = "admin"
