package connlimit

import (
	"container/list"
	"context"
	"net"
	"time"
)

// Conn is one connection. owner.mu guards its fields, except the embedded one.
type Conn struct {
	net.Conn
	owner *Listener
	// lane is the lane of its address; nil where the address has no bound of its own.
	lane *lane
	peer bool
	// known means that a caller has signed in on the connection.
	known bool
	// elements are its positions in the lanes while it waits for a request.
	elements [2]*list.Element
	// next means that the next deadline bounds the wait for another request.
	next bool
	gone bool
}

// wait records that the connection waits for a request.
func (c *Conn) wait() {
	if c.gone || c.peer || c.known || c.elements[0] != nil {
		return
	}
	c.elements[0] = c.owner.all.idle.PushBack(c)
	if c.lane != nil {
		c.elements[1] = c.lane.idle.PushBack(c)
	}
}

// work records that the connection has a request, or that it is known.
func (c *Conn) work() {
	if c.elements[0] != nil {
		c.owner.all.idle.Remove(c.elements[0])
	}
	if c.elements[1] != nil {
		c.lane.idle.Remove(c.elements[1])
	}
	c.elements = [2]*list.Element{}
}

// leave removes the connection from the counts, once.
func (c *Conn) leave() {
	if c.gone {
		return
	}
	c.work()
	c.gone = true
	if c.peer {
		c.owner.peers--
		return
	}
	c.owner.all.count--
	if c.lane != nil {
		c.lane.count--
		c.owner.forget(c.lane)
	}
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.owner.mu.Lock()
	c.leave()
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// SetReadDeadline implements net.Conn. The first deadline after a request bounds the wait for
// another request. Before a sign-in that wait is at most StrangerIdle.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.owner.mu.Lock()
	bounded := c.next && !c.known && !c.peer
	c.next = false
	c.owner.mu.Unlock()
	if last := c.owner.clock.Now().Add(c.owner.limits.StrangerIdle); bounded && (t.IsZero() || t.After(last)) {
		t = last
	}
	return c.Conn.SetReadDeadline(t)
}

// SignedIn records that a caller has signed in on the connection. The connection may then be
// idle as long as the server allows, and makes room for no other.
func (c *Conn) SignedIn() {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	c.known = true
	c.work()
}

// unwrap returns the connection below TLS, or nil for a connection of another listener.
func unwrap(raw net.Conn) *Conn {
	for {
		switch c := raw.(type) {
		case *Conn:
			return c
		case interface{ NetConn() net.Conn }:
			raw = c.NetConn()
		default:
			return nil
		}
	}
}

type connKey struct{}

// Context serves http.Server.ConnContext: with it, Of finds the connection of a request.
func Context(ctx context.Context, raw net.Conn) context.Context {
	if c := unwrap(raw); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Of returns the connection of a request by its context, or nil for a connection of another
// listener.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
