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
	// Peers bounds the connections of peers, which are counted apart.
	Peers int
	// StrangerIdle is how long a connection without a sign-in may be idle.
	StrangerIdle time.Duration
	// Peer reports whether an address belongs to another node, whose connections are accepted
	// when all others are taken. Shared reports whether many people use an address, such as that
	// of a proxy. Nil means none.
	Peer, Shared func(netip.Addr) bool
}

// Listener accepts connections within limits. At a limit, the connection without a sign-in that
// was idle longest makes room for the new one. Without such a connection, the new one is
// closed. Safe for concurrent use.
type Listener struct {
	net.Listener
	limits Limits
	clock  clock.Clock

	mu    sync.Mutex
	all   lane
	peers int
	from  map[netip.Prefix]*lane
}

// lane holds connections that share a bound.
type lane struct {
	network netip.Prefix
	count   int
	// idle holds the connections without a sign-in that wait for a request, longest first.
	idle list.List
}

// New bounds the connections of l.
func New(l net.Listener, limits Limits, c clock.Clock) *Listener {
	return &Listener{Listener: l, limits: limits, clock: c, from: map[netip.Prefix]*lane{}}
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

// makeRoom closes the connection without a sign-in that was idle longest.
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
		c.work()
	case http.StateIdle:
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
