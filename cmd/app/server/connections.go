package server

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/connlimit"
)

// The default bounds of connections.
const (
	// mostConnections is enough for one node, at some 20 KiB each.
	mostConnections = 10_000
	// shareOfFiles and shareOfWorkers are the divisors of the open files of the process that
	// connections of callers and of workers may use: the store, calls and commands use the rest.
	shareOfFiles   = 2
	shareOfWorkers = 4
	// shareOfAddress is the divisor of the connections that one address may hold.
	shareOfAddress  = 4
	leastOfAddress  = 16
	peerConnections = 128
	// strangerIdle is how long a connection without a signed-in caller may be idle; other
	// connections may be idle as long as the server allows.
	strangerIdle = 15 * time.Second
	// strangerBody is how long such a connection may take to send a request.
	strangerBody = 5 * time.Second
	// localConnections are kept for programs on this machine, such as health checks.
	localConnections = 16
)

// limitConnections bounds the connections of the port.
func (s *Server) limitConnections(cfg config.Server, l net.Listener, c clock.Clock) (*connlimit.Listener, error) {
	proxies, err := networks(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	limits := connectionLimits(cfg)
	if limits.Workers = s.cfg.Worker.MaxConnections; limits.Workers == 0 {
		limits.Workers = ofFiles(shareOfWorkers)
	}
	limits.WorkersPerAddress = s.cfg.Worker.MaxPerAddress
	limits.StrangerIdle, limits.Peers, limits.Peer = strangerIdle, peerConnections, s.isNode
	limits.StrangerBody, limits.Local = strangerBody, localConnections
	limits.Refused = func(reason string) {
		if e := s.started.Load(); e != nil {
			e.Metrics.ConnectionRefused(reason)
		}
	}
	limits.Shared = func(a netip.Addr) bool {
		for _, network := range proxies {
			if network.Contains(a) {
				return true
			}
		}
		return false
	}
	s.limited = connlimit.New(l, limits, c)
	return s.limited, nil
}

// connectionLimits returns the limits of the configuration, or defaults that fit the
// process.
func connectionLimits(cfg config.Server) connlimit.Limits {
	l := connlimit.Limits{Total: cfg.MaxConnections, PerAddress: cfg.MaxConnectionsPerAddress}
	if l.Total == 0 {
		l.Total = ofFiles(shareOfFiles)
	}
	if l.PerAddress == 0 {
		l.PerAddress = max(l.Total/shareOfAddress, leastOfAddress)
	}
	return l
}

// ofFiles is a share of the open files of the process, and at most mostConnections.
func ofFiles(divisor uint64) int {
	if files, known := connlimit.OpenFiles(); known && files/divisor < mostConnections {
		return max(int(files/divisor), 1)
	}
	return mostConnections
}

// networks parses addresses and networks.
func networks(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		if !strings.Contains(text, "/") {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return nil, err
			}
			out = append(out, netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		out = append(out, network)
	}
	return out, nil
}

// isNode reports whether an address is that of another node of the cluster.
func (s *Server) isNode(a netip.Addr) bool {
	e := s.started.Load()
	if e == nil {
		return false
	}
	for _, n := range e.Member.Nodes() {
		if ip, err := netip.ParseAddr(n.IP); err == nil && ip.Unmap() == a && n.ID != s.cfg.Node.ID {
			return true
		}
	}
	return false
}

// signedIn marks the connection of a request whose caller is signed in.
func signedIn(ctx context.Context) {
	if c := connlimit.Of(ctx); c != nil {
		c.SignedIn()
	}
}

// workerConnected counts the connection of a request with those of workers; false where there is no room.
func workerConnected(ctx context.Context) bool {
	c := connlimit.Of(ctx)
	return c == nil || c.Worker()
}
