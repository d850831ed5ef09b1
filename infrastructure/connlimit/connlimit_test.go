package connlimit_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/connlimit"
)

// site is a server with limits. A request of /in signs in, one of /stay is not
// answered before release is closed.
type site struct {
	t       *testing.T
	addr    string
	limits  *connlimit.Listener
	began   chan struct{}
	release chan struct{}
}

func open(t *testing.T, limits connlimit.Limits) site {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if limits.Refused == nil {
		limits.Refused = func(string) {}
	}
	l := connlimit.New(raw, limits, clock.NewSystem())
	s := site{t, raw.Addr().String(), l, make(chan struct{}), make(chan struct{})}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, IdleTimeout: time.Hour, ConnContext: connlimit.Context,
		Handler: connlimit.Bodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/in":
				connlimit.Of(r.Context()).SignedIn()
			case "/worker":
				if !connlimit.Of(r.Context()).Worker() {
					w.Header().Set("Connection", "close")
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			case "/stay":
				close(s.began)
				<-s.release
			case "/body":
				_, _ = io.Copy(io.Discard, r.Body)
			}
		})),
	}
	l.Attach(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

// idle waits until so many connections of strangers wait for a request: an answer
// is there a moment before.
func (s site) idle(n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.limits.Idle() == n }, 10*time.Second, time.Millisecond)
}

// client is one connection.
type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func (s site) dial(from string) *client {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", s.addr)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{s.t, c, bufio.NewReader(c)}
}

// get asks and reports whether it was answered.
func (c *client) get(path string) bool {
	_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// cut waits for the end of the connection.
func (c *client) cut() {
	c.t.Helper()
	_, err := c.r.ReadByte()
	require.Error(c.t, err)
	var timeout net.Error
	require.False(c.t, errors.As(err, &timeout) && timeout.Timeout(), "the connection is still there")
}

const one, two, three = "127.0.0.1", "127.0.0.2", "127.0.0.3"

func TestTheLongestIdleStrangerMakesRoom(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 3, PerAddress: 3, StrangerIdle: time.Hour})
	known := s.dial(one)
	require.True(t, known.get("/in"))
	first, second := s.dial(one), s.dial(two)
	require.True(t, first.get("/"))
	s.idle(2)
	require.True(t, second.get("/"))
	s.idle(2)
	require.True(t, first.get("/"), "now the second one is idle longest")
	s.idle(2)
	third := s.dial(three)
	require.True(t, third.get("/"))
	second.cut()
	require.True(t, first.get("/"))
	require.True(t, known.get("/"))
	require.True(t, third.get("/in"))
	require.True(t, first.get("/in"))
	require.False(t, s.dial(two).get("/"), "nobody makes room who has signed in")
	require.True(t, known.get("/"))
}

// Workers hold connections all the time: they take no place of others, and others take none of theirs (V14).
func TestWorkersHaveABoundOfTheirOwn(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 2, PerAddress: 2, Workers: 3, StrangerIdle: time.Hour})
	var workers []*client
	for range 3 {
		w := s.dial(one)
		require.True(t, w.get("/worker"))
		require.True(t, w.get("/worker"), "it counts once")
		workers = append(workers, w)
	}
	fourth := s.dial(one)
	require.False(t, fourth.get("/worker"), "there is no room for one more")
	fourth.cut()
	first, second := s.dial(one), s.dial(two)
	require.True(t, first.get("/in"))
	require.True(t, second.get("/in"), "and all places of others are free")
	require.False(t, s.dial(three).get("/"))
	for _, w := range workers {
		require.True(t, w.get("/worker"), "nobody displaces a worker")
	}
	require.NoError(t, workers[0].Close())
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return s.dial(three).get("/worker") }, 10*time.Second, time.Millisecond)
}

func TestACallUnderWayMakesNoRoom(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 1, PerAddress: 1, StrangerIdle: time.Hour})
	busy := s.dial(one)
	answered := make(chan bool)
	go func() { answered <- busy.get("/stay") }()
	<-s.began
	require.False(t, s.dial(two).get("/"))
	close(s.release)
	require.True(t, <-answered)
	s.idle(1)
	require.True(t, s.dial(two).get("/"))
	busy.cut()
}

func TestAnAddressHasABoundOfItsOwn(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 100, PerAddress: 2, StrangerIdle: time.Hour})
	var held []*client
	for i := range 10 {
		held = append(held, s.dial(one))
		require.True(t, held[len(held)-1].get("/"))
		s.idle(min(i+1, 2))
	}
	for _, c := range held[:8] {
		c.cut()
	}
	other := s.dial(two)
	require.True(t, other.get("/"))
	require.True(t, held[9].get("/in"))
	require.True(t, held[8].get("/in"))
	require.False(t, s.dial(one).get("/"))
	require.NoError(t, held[8].Close())
	require.Eventually(t, func() bool {
		return s.dial(one).get("/")
	}, 10*time.Second, 10*time.Millisecond, "a place is free again")
}

func TestPeersAndProxiesAreCountedApart(t *testing.T) {
	is := func(address string) func(netip.Addr) bool {
		return func(a netip.Addr) bool { return a == netip.MustParseAddr(address) }
	}
	s := open(t, connlimit.Limits{
		Total: 5, PerAddress: 1, Peers: 2, StrangerIdle: time.Hour, Peer: is(two),
		Shared: is(three),
	})
	for range 4 {
		require.True(t, s.dial(three).get("/in"), "many people come from a proxy")
	}
	require.True(t, s.dial(one).get("/in"))
	require.False(t, s.dial(one).get("/"))
	for range 2 {
		require.True(t, s.dial(two).get("/"), "another node gets through when all places are taken")
	}
	require.False(t, s.dial(two).get("/"), "and they are bounded")
}

func TestOnlyStrangersAreCutWhenIdle(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 10, PerAddress: 10, StrangerIdle: 100 * time.Millisecond})
	known, stranger := s.dial(one), s.dial(one)
	require.True(t, known.get("/in"))
	require.True(t, stranger.get("/"))
	stranger.cut()
	require.True(t, known.get("/"))
}

// sends begins a request whose body never comes whole.
func (c *client) sends() {
	_, err := io.WriteString(c, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	require.NoError(c.t, err)
}

// Strangers who send slowly keep nobody out: the one that has been sending for longest makes room,
// and the listener says so.
func TestTheLongestSendingStrangerMakesRoom(t *testing.T) {
	reasons := make(chan string, 10)
	s := open(t, connlimit.Limits{
		Total: 3, PerAddress: 2, StrangerIdle: time.Hour, StrangerBody: time.Hour,
		Refused: func(reason string) { reasons <- reason },
	})
	first, second, third := s.dial(two), s.dial(two), s.dial(three)
	for i, c := range []*client{first, second, third} {
		c.sends()
		require.Eventually(t, func() bool { return s.limits.Sending() == i+1 }, 10*time.Second, time.Millisecond)
	}
	require.Empty(t, s.limits.Trouble())
	newcomer := s.dial("127.0.0.4")
	require.True(t, newcomer.get("/in"))
	first.cut()
	require.Equal(t, connlimit.ReasonStranger, <-reasons)
	require.NotEmpty(t, s.limits.Trouble())
	require.True(t, s.dial(two).get("/"), "also within one address")
	require.Equal(t, connlimit.ReasonStranger, <-reasons)
	second.cut()
}

// A stranger has little time for a body. A user who has signed in has as long as the server allows.
func TestAStrangerSendsABodyInTime(t *testing.T) {
	reasons := make(chan string, 10)
	s := open(t, connlimit.Limits{
		Total: 3, PerAddress: 3, StrangerIdle: time.Hour, StrangerBody: 200 * time.Millisecond,
		Refused: func(reason string) { reasons <- reason },
	})
	known := s.dial(one)
	require.True(t, known.get("/in"))
	known.sends()
	stranger := s.dial(two)
	stranger.sends()
	require.Equal(t, connlimit.ReasonBody, <-reasons)
	_, err := io.WriteString(known, strings.Repeat("x", 999))
	require.NoError(t, err)
	res, err := http.ReadResponse(known.r, nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	waits := s.dial(two)
	_, _ = io.WriteString(waits, "GET /stay HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.began
	time.Sleep(400 * time.Millisecond) // longer than a body may take: the call goes on
	close(s.release)
	res, err = http.ReadResponse(waits.r, nil)
	require.NoError(t, err, "the bound is for what is sent, not for the answer")
	require.NoError(t, res.Body.Close())
	require.Empty(t, reasons)
}

// Health checks of this machine are answered when everything else is taken.
func TestPlacesAreKeptForThisMachine(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 1, PerAddress: 1, StrangerIdle: time.Hour, Local: 1})
	require.True(t, s.dial(two).get("/in"))
	require.False(t, s.dial(three).get("/"))
	first := s.dial(one)
	require.True(t, first.get("/"))
	require.Eventually(t, func() bool { return s.dial(one).get("/") }, 10*time.Second, time.Millisecond,
		"the former one makes room")
	first.cut()
}

func TestWorkersOfOneAddressHaveABoundOfTheirOwn(t *testing.T) {
	s := open(t, connlimit.Limits{Total: 10, PerAddress: 5, Workers: 10, WorkersPerAddress: 2})
	first, second := s.dial("127.0.0.2"), s.dial("127.0.0.2")
	require.True(t, first.get("/worker"))
	require.True(t, second.get("/worker"))
	require.True(t, first.get("/worker"), "it has its place")
	third := s.dial("127.0.0.2")
	require.False(t, third.get("/worker"))
	require.True(t, s.dial("127.0.0.2").get("/in"), "people of that address are counted apart")
	require.True(t, s.dial("127.0.0.3").get("/worker"), "another address has its own")
	_ = second.Close()
	require.Eventually(t, func() bool { return s.dial("127.0.0.2").get("/worker") }, 10*time.Second, 10*time.Millisecond,
		"a connection that ends gives its place back")
}
