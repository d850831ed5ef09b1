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
	// Total bounds all connections, but for those of peers, and PerAddress those
	// from one IPv4 address or one IPv6 /64.
	Total, PerAddress int
	// Peers bounds the connections of peers that are counted apart.
	Peers int
	// StrangerIdle is how long a connection may lie idle that nobody has signed
	// in on.
	StrangerIdle time.Duration
	// Peer reports whether an address is that of another node, whose connections
	// get through when all others are taken; nil is none. Shared reports whether
	// many people come from an address, which is a proxy's; nil is none.
	Peer, Shared func(netip.Addr) bool
}

// Listener accepts connections within limits. Where one is reached, the
// connection of a stranger that has lain idle longest makes room for the new
// one; where there is none, the new one is closed. It is safe for concurrent use.
type Listener struct {
	net.Listener
	limits Limits
	clock  clock.Clock

	mu    sync.Mutex
	all   lane
	peers int
	from  map[netip.Prefix]*lane
}

// lane is connections that share a bound.
type lane struct {
	network netip.Prefix
	count   int
	// idle are those of strangers that wait for a request, longest first.
	idle list.List
}

// New bounds the connections of l.
func New(l net.Listener, limits Limits, c clock.Clock) *Listener {
	return &Listener{Listener: l, limits: limits, clock: c, from: map[netip.Prefix]*lane{}}
}

// Attach makes a server tell the listener what becomes of its connections.
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

// admit counts a connection; nil is one that there is no room for.
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
		if c.lane = l.laneOf(address); c.lane.count >= l.limits.PerAddress && !c.lane.makeRoom() {
			return nil
		}
	}
	if l.all.count >= l.limits.Total && !l.all.makeRoom() {
		l.forget(c.lane)
		return nil
	}
	l.all.count++
	if c.lane != nil {
		c.lane.count++
	}
	c.wait() // nothing was asked yet
	return c
}

func (l *Listener) laneOf(address netip.Addr) *lane {
	network := networkOf(address)
	found := l.from[network]
	if found == nil {
		found = &lane{network: network}
		l.from[network] = found
	}
	return found
}

// forget drops the lane of an address without connections.
func (l *Listener) forget(one *lane) {
	if one != nil && one.count == 0 {
		delete(l.from, one.network)
	}
}

// makeRoom closes the connection of a stranger that has waited longest.
func (l *lane) makeRoom() bool {
	front := l.idle.Front()
	if front == nil {
		return false
	}
	c := front.Value.(*Conn)
	c.leave()
	_ = c.Conn.Close()
	return true
}

// state follows a connection; net/http calls it.
func (l *Listener) state(raw net.Conn, s http.ConnState) {
	c := unwrap(raw)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateActive:
		c.work()
	case http.StateIdle:
		c.wait()
		c.next = true
	}
}

// addressOf is where a connection comes from; the zero Addr where that is not
// an IP address.
func addressOf(c net.Conn) netip.Addr {
	port, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return port.Addr().Unmap().WithZone("")
}

// networkOf is what connections of one caller have in common.
func networkOf(address netip.Addr) netip.Prefix {
	bits := 64
	if address.Is4() {
		bits = 32
	}
	p, _ := address.Prefix(bits) // of no address it is none, like all others
	return p
}
