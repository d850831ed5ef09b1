package rig

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Mode is what a proxy does with what passes it.
type Mode int

// The modes.
const (
	// Pass forwards.
	Pass Mode = iota
	// Cut resets every connection, those that are and those that come.
	Cut
	// BlackHole accepts and forwards nothing; it goes on where it stopped.
	BlackHole
	// Slow forwards each piece to the server later by the delay of SlowBy, 200 ms at first.
	Slow
	// HalfOpen has lost what was connected, and tells nobody until the mode
	// changes; new connections pass.
	HalfOpen
)

// maxLinks bounds the connections of one proxy.
const maxLinks = 400

var errTooMany = errors.New("too many connections")

// Proxy is the only way of one node to one service. All methods may be called
// at any time from any goroutine.
type Proxy struct {
	listener net.Listener
	upstream string
	ctx      context.Context
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu   sync.Mutex
	mode Mode
	// delay is that of Slow.
	delay   time.Duration
	changed chan struct{}
	links   map[*link]bool
	drop    int
	dropped int
	// answering is what is answered in the stead of the store; given counts since
	// then, answered all.
	answering       *Answers
	given, answered int
	// store: the protocol is that of MySQL.
	store atomic.Bool
}

// link is one connection and its way on.
type link struct {
	client, server net.Conn
	// deaf: the server's side is gone and the client's does not know.
	deaf bool
	// silent: the next answer is not passed on.
	silent bool
	talk
}

// NewProxy listens on a free port of the loopback address.
func NewProxy(upstream string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{
		delay: 200 * time.Millisecond, listener: l, upstream: upstream, ctx: ctx, stop: stop,
		changed: make(chan struct{}), links: map[*link]bool{},
	}
	p.wg.Go(p.accept)
	return p, nil
}

// Addr is where the node connects to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes the mode.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.changed)
	p.changed = make(chan struct{})
	for l := range p.links {
		switch {
		case m == Cut || l.deaf:
			l.reset()
		case m == HalfOpen && l.server != nil:
			l.deaf = true
			_ = l.server.Close()
		}
	}
}

// SlowBy is Slow with a delay of its own for each piece.
func (p *Proxy) SlowBy(d time.Duration) {
	p.mu.Lock()
	p.delay = d
	p.mu.Unlock()
	p.Set(Slow)
}

// DropReplies resets the next n connections that commit, after the server has
// been told and before the client learns of it.
func (p *Proxy) DropReplies(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = n
}

// Dropped is how many replies were dropped, Links how many connections there are.
func (p *Proxy) Dropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// Links is the number of connections.
func (p *Proxy) Links() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Close ends everything and waits for it.
func (p *Proxy) Close() {
	p.stop()
	_ = p.listener.Close()
	p.Set(Cut)
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		l := &link{client: c}
		if err := p.add(l); err != nil {
			l.reset()
			continue
		}
		p.wg.Go(func() { p.serve(l) })
	}
}

func (p *Proxy) add(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.links) >= maxLinks {
		return errTooMany
	}
	p.links[l] = true
	return nil
}

// serve dials on and forwards both ways until one side ends.
func (p *Proxy) serve(l *link) {
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
		l.reset()
	}()
	if !p.gate(false) {
		return
	}
	server, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(p.ctx, "tcp", p.upstream)
	if err != nil {
		return
	}
	p.mu.Lock()
	l.server = server
	p.mu.Unlock()
	back := make(chan struct{})
	go func() {
		defer close(back)
		p.answers(l)
	}()
	p.requests(l)
	_ = server.Close()
	<-back
}

// gate waits until bytes may pass; it is false where the connection must end.
func (p *Proxy) gate(slow bool) bool {
	for {
		p.mu.Lock()
		mode, changed, delay := p.mode, p.changed, p.delay
		p.mu.Unlock()
		switch mode {
		case Cut:
			return false
		case BlackHole:
			select {
			case <-changed:
			case <-p.ctx.Done():
				return false
			}
			continue
		case Slow:
			if slow {
				Sleep(p.ctx, delay)
			}
		case Pass, HalfOpen:
		}
		return p.ctx.Err() == nil
	}
}

// requests forwards from the node. The bytes of a deaf connection are lost.
func (p *Proxy) requests(l *link) {
	buffer := make([]byte, 64<<10)
	for {
		piece, err := p.piece(l, buffer)
		if err != nil || !p.gate(true) {
			return
		}
		if p.lost(l, piece) {
			continue
		}
		reply, forward := p.asked(l, piece)
		if reply != nil {
			if _, err := l.client.Write(reply); err != nil {
				return
			}
			continue
		}
		if _, err := l.server.Write(forward); err != nil && !p.isDeaf(l) {
			return
		}
	}
}

// lost reports a deaf connection, and arms one that commits.
func (p *Proxy) lost(l *link, piece []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drop > 0 && !l.deaf && bytes.Contains(piece, []byte("COMMIT")) {
		p.drop--
		l.silent = true
	}
	return l.deaf
}

func (p *Proxy) isDeaf(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.deaf
}

// answers forwards to the node, until a reply is to be lost.
func (p *Proxy) answers(l *link) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if err == nil && p.gate(false) && !p.silenced(l) {
			_, err = l.client.Write(p.replaced(l, buffer[:n]))
			if err == nil {
				continue
			}
		}
		if !p.isDeaf(l) {
			if errors.Is(err, io.EOF) {
				_ = l.client.Close()
			}
			l.reset()
		}
		return
	}
}

func (p *Proxy) silenced(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.silent {
		p.dropped++
	}
	return l.silent
}

// reset ends the node's side as a broken network does.
func (l *link) reset() {
	if tcp, ok := l.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
}
