package connlimit

import (
	"container/list"
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// Conn is one connection. owner.mu guards its fields, except the embedded one.
type Conn struct {
	net.Conn
	owner *Listener
	// lane is the lane of its address; nil where the address has no bound of its own. crew is that lane for one that
	// is counted with those of workers.
	lane, crew *source
	peer       bool
	// local means that it has one of the places for this machine; worker that it is counted with those of workers.
	local, worker bool
	// known means that a caller has signed in on the connection.
	known bool
	// elements are its positions in the lanes while it waits for a request, or sends one.
	elements [2]*list.Element
	// sending means that it sends a request; received, that the request has arrived whole.
	sending, received bool
	// wanted is the deadline of the server for what is read now.
	wanted time.Time
	// next means that the next deadline bounds the wait for another request.
	next bool
	gone bool
}

// wait records that the connection waits for a request.
func (c *Conn) wait() {
	c.work()
	c.queue(false)
}

// send records that a request has begun to arrive.
func (c *Conn) send() {
	c.work()
	c.queue(true)
}

// queue puts a stranger into the lists of those that make room for others.
func (c *Conn) queue(sending bool) {
	if c.gone || c.peer || c.known {
		return
	}
	c.sending = sending
	of := func(l *source) *list.List {
		if sending {
			return &l.sending
		}
		return &l.idle
	}
	if !c.local {
		c.elements[0] = of(&c.owner.all).PushBack(c)
	}
	if c.lane != nil {
		c.elements[1] = of(c.lane).PushBack(c)
	}
}

// work records that the request has arrived, or that the connection is known.
func (c *Conn) work() {
	for i, l := range []*source{&c.owner.all, c.lane} {
		if e := c.elements[i]; e != nil {
			l.idle.Remove(e) // of the two lists it is in one
			l.sending.Remove(e)
		}
	}
	c.elements, c.sending = [2]*list.Element{}, false
}

// leave removes the connection from the counts, once.
func (c *Conn) leave() {
	if c.gone {
		return
	}
	c.work()
	c.gone = true
	c.uncount()
}

// uncount takes the connection out of the count that it is in.
func (c *Conn) uncount() {
	switch {
	case c.worker:
		c.owner.workers--
		if c.crew != nil {
			c.crew.workers--
			c.owner.forget(c.crew)
		}
		return
	case c.peer:
		c.owner.peers--
		return
	}
	if !c.local {
		c.owner.all.count--
	}
	if c.lane != nil {
		c.lane.count--
		c.owner.forget(c.lane)
	}
}

// Worker records that a worker calls on the connection. From then on it is counted with those of workers, and with no
// others: neither displaces the other. It is false where there is no room for one more; the connection is then to end.
func (c *Conn) Worker() bool {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	switch {
	case c.worker || c.gone:
		return true
	case c.owner.workers >= c.owner.limits.Workers, c.lane.full(c.owner.limits.WorkersPerAddress):
		c.owner.refused(ReasonWorker)
		return false
	}
	c.work()
	if c.crew = c.lane; c.crew != nil {
		c.crew.workers++
	}
	c.uncount()
	c.owner.workers++
	c.worker, c.known, c.lane, c.local = true, true, nil, false
	c.unbound()
	return true
}

// full reports whether an address has as many connections of workers as it may; 0 is no bound.
func (s *source) full(most int) bool { return s != nil && most > 0 && s.workers >= most }

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.owner.mu.Lock()
	c.leave()
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// SetReadDeadline implements net.Conn. The first deadline after a request bounds the wait for
// another request. Before a sign-in that wait is at most StrangerIdle, and a request takes at most
// StrangerBody to arrive.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	most := c.owner.limits.StrangerBody
	if c.next {
		most = c.owner.limits.StrangerIdle
	}
	c.wanted = t
	bounded := !c.known && !c.peer && !c.received && most > 0
	c.next = false
	if last := c.owner.clock.Now().Add(most); bounded && (t.IsZero() || t.After(last)) {
		t = last
	}
	return c.Conn.SetReadDeadline(t)
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		c.owner.mu.Lock()
		if c.sending {
			c.work()
			c.owner.refused(ReasonBody)
		}
		c.owner.mu.Unlock()
	}
	return n, err
}

// SignedIn records that a caller has signed in on the connection. The connection may then be
// idle, and send, as long as the server allows, and makes room for no other.
func (c *Conn) SignedIn() {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	if c.known {
		return
	}
	c.known = true
	c.work()
	c.unbound()
}

// Received records that the request of the connection has arrived whole. Until the next one it
// makes room for no other.
func (c *Conn) Received() {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	if c.received || c.known || c.peer || c.gone {
		return
	}
	c.received = true
	c.work()
	c.unbound()
}

// unbound gives the connection the deadline that the server wants.
func (c *Conn) unbound() {
	if c.owner.limits.StrangerBody > 0 && (!c.peer || c.worker) && !c.gone {
		_ = c.Conn.SetReadDeadline(c.wanted)
	}
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
