// Package connlimit bounds the connections of a server. Strangers that hold connections
// must neither use up the open files of the process nor keep other callers out.
package connlimit

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Limits are the bounds of a Listener.
type Limits struct {
	// Total bounds all connections except those of peers. PerAddress bounds the connections of
	// one IPv4 address or one IPv6 /64.
	Total, PerAddress int
	// Peers bounds the connections of peers, and Workers those of workers. Both are counted apart. WorkersPerAddress
	// bounds those of workers of one address that nobody shares; 0 is no bound.
	Peers, Workers, WorkersPerAddress int
	// StrangerIdle is how long a connection without a sign-in may be idle.
	StrangerIdle time.Duration
	// StrangerBody is how long a connection without a sign-in may take for its headers and its
	// body; 0 is as long as the server allows.
	StrangerBody time.Duration
	// Local is how many connections from 127.0.0.1 and ::1 are accepted when all others are
	// taken: those of health checks.
	Local int
	// Refused is told why a connection was refused or thrown out: one of the reasons. Nil is
	// nobody. It must not wait.
	Refused func(reason string)
	// Peer reports whether an address belongs to another node, whose connections are accepted
	// when all others are taken. Shared reports whether many people use an address, such as that
	// of a proxy. Nil means none.
	Peer, Shared func(netip.Addr) bool
}

// Why connections are refused: the bound of their address, that of all, or that of workers. Why they are thrown
// out: to make room before a sign-in, or because their body took too long.
const (
	ReasonAddress  = "address"
	ReasonTotal    = "total"
	ReasonWorker   = "worker"
	ReasonStranger = "stranger"
	ReasonBody     = "body"
)

// Listener accepts connections within limits. At a limit, the connection without a sign-in that
// was idle longest makes room for the new one; else the one that has been sending a request for
// longest. Without such a connection, the new one is closed. Safe for concurrent use.
type Listener struct {
	net.Listener
	limits Limits
	clock  clock.Clock

	mu  sync.Mutex
	all source
	// local are the places that are kept for this machine.
	local   source
	peers   int
	workers int
	// thrown is when a stranger was thrown out last, in monotonic time; 0: never.
	thrown time.Duration
	from   map[netip.Prefix]*source
}

// source holds connections that share a bound.
type source struct {
	network netip.Prefix
	count   int
	// workers are those of workers, which are not in count.
	workers int
	// idle holds the connections without a sign-in that wait for a request, longest first.
	idle list.List
	// sending holds those without a sign-in that send a request, longest first.
	sending list.List
}

// New bounds the connections of l.
func New(l net.Listener, limits Limits, c clock.Clock) *Listener {
	return &Listener{Listener: l, limits: limits, clock: c, from: map[netip.Prefix]*source{}}
}

// Attach makes a server report the states of its connections to the listener.
func (l *Listener) Attach(s *http.Server) { s.ConnState = l.state }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(raw); c != nil {
			return c, nil
		}
		_ = raw.Close()
	}
}

// admit counts a connection; it returns nil when there is no room.
func (l *Listener) admit(raw net.Conn) *Conn {
	address := addressOf(raw)
	c := &Conn{Conn: raw, owner: l}
	peer := l.limits.Peer != nil && l.limits.Peer(address)
	shared := l.limits.Shared != nil && l.limits.Shared(address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if peer && l.peers < l.limits.Peers {
		l.peers++
		c.peer = true
		return c
	}
	if !shared {
		c.lane = l.laneOf(address)
	}
	if reason := l.fits(c.lane); reason != "" {
		l.forget(c.lane)
		if !isLocal(address) || l.local.count >= l.limits.Local && !l.makeRoom(&l.local) {
			l.refused(reason)
			return nil
		}
		c.lane, c.local = &l.local, true
	}
	if !c.local {
		l.all.count++
	}
	if c.lane != nil {
		c.lane.count++
	}
	c.wait() // nothing was asked yet
	return c
}

// fits makes room for a connection, and says which bound is reached where there is none.
func (l *Listener) fits(one *source) (reason string) {
	if one != nil && one.count >= l.limits.PerAddress && !l.makeRoom(one) {
		return ReasonAddress
	}
	if l.all.count >= l.limits.Total && !l.makeRoom(&l.all) {
		return ReasonTotal
	}
	return ""
}

func (l *Listener) refused(reason string) {
	if reason == ReasonStranger {
		l.thrown = l.clock.Monotonic() + 1
	}
	if l.limits.Refused != nil {
		l.limits.Refused(reason)
	}
}

// troubled is how long the listener says that it has thrown strangers out.
const troubled = time.Minute

// Trouble says that strangers hold so many connections that some were thrown out within the last
// minute; empty: they do not.
func (l *Listener) Trouble() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thrown == 0 || l.clock.Monotonic()-l.thrown > troubled {
		return ""
	}
	return "callers who have not signed in hold connections of the port, or send slowly, and are thrown out; " +
		"a firewall or a proxy in front of it can keep them away"
}

// isLocal reports whether an address is the one that programs on this machine use by default.
func isLocal(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback()
}

func (l *Listener) laneOf(address netip.Addr) *source {
	network := networkOf(address)
	found := l.from[network]
	if found == nil {
		found = &source{network: network}
		l.from[network] = found
	}
	return found
}

// forget drops the lane of an address without connections.
func (l *Listener) forget(one *source) {
	if one != nil && one.count == 0 && one.workers == 0 && one != &l.local {
		delete(l.from, one.network)
	}
}

// makeRoom closes the connection without a sign-in of a lane that was idle longest, else the one
// that has been sending for longest.
func (l *Listener) makeRoom(one *source) bool {
	front := one.idle.Front()
	if front == nil {
		front = one.sending.Front()
	}
	if front == nil {
		return false
	}
	c := front.Value.(*Conn)
	l.refused(ReasonStranger)
	c.leave()
	_ = c.Conn.Close()
	return true
}

// state records the state of a connection; net/http calls it.
func (l *Listener) state(raw net.Conn, s http.ConnState) {
	c := unwrap(raw)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateActive:
		c.send()
	case http.StateIdle:
		c.received = false
		c.wait()
		c.next = true
	}
}

// addressOf returns where a connection comes from, or the zero Addr when that is no IP address.
func addressOf(c net.Conn) netip.Addr {
	port, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return port.Addr().Unmap().WithZone("")
}

// networkOf returns the network that the connections of one caller share.
func networkOf(address netip.Addr) netip.Prefix {
	bits := 64
	if address.Is4() {
		bits = 32
	}
	p, _ := address.Prefix(bits) // of no address it is none, like all others
	return p
}
