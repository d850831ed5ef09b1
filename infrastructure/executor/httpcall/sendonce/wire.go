package sendonce

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// errStale means that the peer of a kept connection closed it meanwhile.
var errStale = errors.New("the kept connection was closed by the target")

// countedConn counts the bytes that were written, below TLS.
type countedConn struct {
	net.Conn
	written atomic.Int64
	// kept means that the next write begins a request on a connection that was unused.
	kept atomic.Bool
}

// Write implements net.Conn. It writes nothing when the connection was unused and its
// peer has closed it. The kernel knows that before the transport does.
func (c *countedConn) Write(p []byte) (int, error) {
	if c.kept.Swap(false) && stale(c.Conn) {
		return 0, errStale
	}
	// This is before the write, because bytes under way must count as written.
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	if n == 0 && errors.Is(err, net.ErrClosed) {
		c.written.Add(-int64(len(p)))
	}
	return n, err
}

// counting returns the dial function of a dialer whose connections count bytes.
func counting(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// wire observes one request on its way out.
type wire struct {
	// opened is told of a new connection; nil is nobody.
	opened    func()
	mu        sync.Mutex
	connected bool
	// conn is the kept connection of the request, if no other request uses it. before
	// counts the bytes that were written on it until then.
	conn   *countedConn
	before int64
}

func (w *wire) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: w.got}
}

func (w *wire) got(info httptrace.GotConnInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connected, w.conn = true, nil
	if !info.Reused {
		if w.opened != nil {
			w.opened()
		}
		return
	}
	conn := info.Conn
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return // other requests write on it too
		}
		conn = secure.NetConn()
	}
	if counted, ok := conn.(*countedConn); ok {
		w.conn, w.before = counted, counted.written.Load()
		counted.kept.Store(true)
	}
}

// reached reports whether there was a connection to the target at all.
func (w *wire) reached() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.connected
}

// untouched reports that the request got a kept connection and that not a byte of it was
// written, because the target had closed the connection.
func (w *wire) untouched() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn != nil && w.conn.written.Load() == w.before
}
