package worker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

const (
	defaultSlots = 8
	defaultGrace = 30 * time.Second
)

// Options say which servers a worker calls and what it can do. Servers, Group, a token and Handlers are required.
type Options struct {
	// Servers are the addresses of nodes, such as https://a:8080. One of them is called, the others when it fails.
	Servers []string
	// Token is the token of the worker group (psw_…), TokenFile a file that holds it, which is read anew when the
	// token is refused. Give one of the two.
	Token, TokenFile string
	// Group is the worker group of the token.
	Group string
	// Instance names this process among those of its group, the same over its restarts; the default is the host name.
	Instance string
	// Slots is how many runs go on at once; the default is 8. Negative: none, for a worker that runs commands only.
	Slots int
	// CommandSlots is how many commands run at once; the default is none. The group must allow commands.
	CommandSlots int
	// Command runs what commands jobs have. It, or an Executor, is required with CommandSlots.
	Command sdk.Handler
	// Executor runs commands in the stead of Command, and HTTP calls where HTTP is set.
	Executor Executor
	// HTTP offers to make the calls of jobs of the type HTTP, by Executor.
	HTTP bool
	// Registered, if given, is called each time that a server has registered this worker, before anything runs.
	Registered func()
	// Handlers are the program's handlers by name, the job's jobClass.
	Handlers map[string]sdk.Handler
	// Jobs are declared after each registration: the servers create those that are not there.
	Jobs []Job
	// Labels are what a job's routing.labels asks for.
	Labels map[string]string
	// Weight is the share under the strategy WEIGHTED; the default is 1.
	Weight int
	// Version is that of the program, for people.
	Version string
	// Grace is how long runs may go on when Run's context has ended; the default is 30 s. After it their contexts are
	// cancelled, and they are given back with their checkpoints.
	Grace time.Duration
	// CAFile holds the certificates that a server's one must descend from, in PEM, in the stead of the system's.
	CAFile string
	// TLS is for what CAFile cannot say; nil is the default.
	TLS *tls.Config
	// AllowPlain allows http to hosts other than this one. Anybody on the way can read the token then.
	AllowPlain bool
	// Logger takes the worker's own log; the default is slog.Default.
	Logger *slog.Logger
}

// complete fills in what was left out, and returns what is wrong.
func (o Options) complete() (Options, error) {
	if len(o.Servers) == 0 {
		return o, errors.New("option Servers is empty: give the address of at least one node")
	}
	o.Servers = slices.Clone(o.Servers)
	for i, server := range o.Servers {
		address, err := serverAddress(server, o.AllowPlain)
		if err != nil {
			return o, err
		}
		o.Servers[i] = address
	}
	switch {
	case (o.Token == "") == (o.TokenFile == ""):
		return o, errors.New("give either Token or TokenFile, the token of the worker group")
	case o.Group == "":
		return o, errors.New("option Group is empty: give the worker group of the token")
	case o.CommandSlots < 0:
		return o, errors.New("option CommandSlots is negative")
	case o.HTTP && o.Executor == nil:
		return o, errors.New("option Executor is nil: HTTP needs something that makes calls")
	case o.CommandSlots > 0 && o.Command == nil && o.Executor == nil:
		return o, errors.New("option Command is nil: CommandSlots needs something that runs commands")
	case o.Weight < 0:
		return o, errors.New("option Weight is negative")
	case o.Grace < 0:
		return o, errors.New("option Grace is negative")
	case o.CAFile != "" && o.TLS != nil:
		return o, errors.New("give either CAFile or TLS")
	}
	for name, handler := range o.Handlers {
		if name == "" || handler == nil {
			return o, fmt.Errorf("option Handlers: the handler %q needs a name and a value", name)
		}
	}
	return o.defaults()
}

func (o Options) defaults() (Options, error) {
	o.Handlers, o.Labels = maps.Clone(o.Handlers), maps.Clone(o.Labels)
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			return o, fmt.Errorf("option Instance is empty, and the host has no name (%w): give one", err)
		}
		o.Instance = host
	}
	if o.Slots == 0 {
		o.Slots = defaultSlots
	}
	o.Slots = max(o.Slots, 0)
	if o.Weight == 0 {
		o.Weight = 1
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

// tlsConfig is what connections are made with.
func (o Options) tlsConfig() (*tls.Config, error) {
	if o.TLS != nil {
		return o.TLS.Clone(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read CAFile: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CAFile %s holds no certificate in PEM", o.CAFile)
	}
	return config, nil
}

// serverAddress checks the address of a node. Over http the token could be read on the way.
func serverAddress(text string, allowPlain bool) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("option Servers: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.User != nil:
		return "", fmt.Errorf("option Servers: %q is no address such as https://a:8080", u.Redacted())
	case u.Scheme == "http" && !allowPlain && !loopback(u.Hostname()):
		return "", fmt.Errorf(
			"option Servers: %s is not this host, and http would show the token: use https, or set AllowPlain", text)
	}
	return strings.TrimRight(text, "/"), nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
