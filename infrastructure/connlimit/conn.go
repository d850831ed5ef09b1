package connlimit

import (
	"container/list"
	"context"
	"net"
	"time"
)

// Conn is one connection. Its fields but for the embedded one are guarded by
// owner.mu.
type Conn struct {
	net.Conn
	owner *Listener
	// lane is that of the address; nil where it has no bound of its own.
	lane *lane
	peer bool
	// known: somebody has signed in on it.
	known bool
	// elements are where it stands in the lanes while it waits for a request.
	elements [2]*list.Element
	// next: the next deadline is for the wait for another request.
	next bool
	gone bool
}

// wait notes that the connection waits for a request.
func (c *Conn) wait() {
	if c.gone || c.peer || c.known || c.elements[0] != nil {
		return
	}
	c.elements[0] = c.owner.all.idle.PushBack(c)
	if c.lane != nil {
		c.elements[1] = c.lane.idle.PushBack(c)
	}
}

// work notes that the connection has a request, or that it is known.
func (c *Conn) work() {
	if c.elements[0] != nil {
		c.owner.all.idle.Remove(c.elements[0])
	}
	if c.elements[1] != nil {
		c.lane.idle.Remove(c.elements[1])
	}
	c.elements = [2]*list.Element{}
}

// leave removes the connection from the count, once.
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

// SetReadDeadline implements net.Conn. The first one after a request, which is
// for the wait for another one, is not set further ahead than StrangerIdle while
// nobody has signed in.
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

// SignedIn notes that somebody has signed in on the connection: it may lie idle
// as long as the server lets it, and makes room for nobody.
func (c *Conn) SignedIn() {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	c.known = true
	c.work()
}

// unwrap finds the connection below TLS; nil where it is none of ours.
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

// Context is for http.Server.ConnContext: Of finds the connection of a request.
func Context(ctx context.Context, raw net.Conn) context.Context {
	if c := unwrap(raw); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Of is the connection of a request by its context; nil where it is none of ours.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
