package peering_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

var key = []byte("0123456789abcdef0123456789abcdef")

// other is a node that answers.
type other struct {
	mu    sync.Mutex
	asked []entity.PeerQuestion
	hold  chan struct{}
}

func (o *other) Answer(_ context.Context, q entity.PeerQuestion) entity.PeerAnswer {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	hold := o.hold
	o.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return entity.PeerAnswer{NodeID: "b", Epoch: 3, Boot: "boot", PromiseMs: 2500, Store: true}
}

func (o *other) count() int { o.mu.Lock(); defer o.mu.Unlock(); return len(o.asked) }

// wire lets a test see and change what goes over it.
type wire struct {
	seen   *http.Request
	body   []byte
	change func(w http.ResponseWriter, r *http.Request, next http.Handler)
	next   http.Handler
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.body, _ = io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(w.body))
	w.seen = r.Clone(context.Background())
	if w.change != nil {
		w.change(rw, r, w.next)
		return
	}
	w.next.ServeHTTP(rw, r)
}

func serve(t *testing.T, h http.Handler) entity.Node {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return at(t, s.URL)
}

func at(t *testing.T, address string) entity.Node {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return entity.Node{ID: "b", IP: u.Hostname(), Port: port}
}

var question = entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "a", Epoch: 7, Target: "b", TargetEpoch: 3}

func TestAQuestionIsAnsweredToWhoHasTheKey(t *testing.T) {
	o := &other{}
	n := serve(t, peering.NewServer(key, time.Now, o))
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	a, err := c.Ask(t.Context(), n, question)
	require.NoError(t, err)
	require.Equal(t, entity.PeerAnswer{NodeID: "b", Epoch: 3, Boot: "boot", PromiseMs: 2500, Store: true}, a)
	require.Equal(t, []entity.PeerQuestion{question}, o.asked)
	for name, stranger := range map[string]*peering.Client{
		"another key": peering.NewClient([]byte("another"), time.Now, false),
		"no key":      peering.NewClient(nil, time.Now, false),
	} {
		_, err := stranger.Ask(t.Context(), n, question)
		require.Error(t, err, name)
	}
	closed := serve(t, peering.NewServer(nil, time.Now, o))
	_, err = peering.NewClient([]byte{}, time.Now, false).Ask(t.Context(), closed, question)
	require.Error(t, err, "without a key nobody is trusted")
	require.Equal(t, 1, o.count())
}

// A step of the store's clock reaches the nodes at different moments, and one that the store does not
// answer goes by the former time until it does. They understand each other all the same; a recorded
// question does not count again.
func TestNodesThatGoByDifferentTimesUnderstandEachOther(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -31 * time.Second} {
		t.Run(name, func(t *testing.T) {
			o := &other{}
			var headers []string
			w := &wire{next: peering.NewServer(key, time.Now, o)}
			w.change = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
				headers = append(headers, r.Header.Get("X-Scheduler-Signature"))
				next.ServeHTTP(rw, r)
			}
			n := serve(t, w)
			c := peering.NewClient(key, func() time.Time { return time.Now().Add(off) }, false)
			defer c.Close()
			_, err := c.Ask(t.Context(), n, question)
			require.NoError(t, err)
			require.Equal(t, 1, o.count())
			require.Len(t, headers, 2)
			for _, header := range headers {
				r := w.seen.Clone(t.Context())
				r.Header.Set("X-Scheduler-Signature", header)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(w.body)), int64(len(w.body))
				rec := httptest.NewRecorder()
				w.next.ServeHTTP(rec, r)
				require.Equal(t, 401, rec.Code)
			}
			require.Equal(t, 1, o.count())
		})
	}
}

// Nobody but a node with the key changes the time at which another one signs.
func TestAStrangerTellsNoTime(t *testing.T) {
	o := &other{}
	old := httptest.NewRecorder()
	var headers []string
	w := &wire{next: peering.NewServer(key, func() time.Time { return time.Now().Add(time.Hour) }, o)}
	n := serve(t, w)
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	w.change = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if headers = append(headers, r.Header.Get("X-Scheduler-Signature")); len(headers) == 1 {
			next.ServeHTTP(old, r) // recorded, and given as the answer to the next question, too
		}
		rw.Header().Set("X-Scheduler-Signature", old.Header().Get("X-Scheduler-Signature"))
		rw.WriteHeader(http.StatusUnauthorized)
	}
	_, err := c.Ask(t.Context(), n, question)
	require.Error(t, err)
	require.Len(t, headers, 2, "the first answer was true")
	_, err = c.Ask(t.Context(), n, question)
	require.ErrorContains(t, err, "401")
	for _, header := range headers[2:] {
		ms := strings.TrimPrefix(strings.Split(header, ",")[0], "t=")
		at, err := strconv.ParseInt(ms, 10, 64)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), time.UnixMilli(at), time.Minute)
	}
	require.Zero(t, o.count())
}

// An eavesdropper can neither repeat, nor change, nor answer in place of another.
func TestWhoListensInCannotUseWhatItHears(t *testing.T) {
	o := &other{}
	w := &wire{next: peering.NewServer(key, time.Now, o)}
	n := serve(t, w)
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	_, err := c.Ask(t.Context(), n, question)
	require.NoError(t, err)
	send := func(change func(r *http.Request, body []byte) []byte) int {
		r := w.seen.Clone(t.Context())
		body := change(r, bytes.Clone(w.body))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		rec := httptest.NewRecorder()
		w.next.ServeHTTP(rec, r)
		return rec.Code
	}
	same := func(_ *http.Request, body []byte) []byte { return body }
	require.Equal(t, 401, send(same), "a question counts once")
	require.Equal(t, 401, send(func(_ *http.Request, body []byte) []byte {
		return bytes.Replace(body, []byte("7"), []byte("8"), 1)
	}))
	require.Equal(t, 401, send(func(r *http.Request, body []byte) []byte {
		r.URL.Path = "/internal/v1/yield"
		return body
	}), "nor for another matter")
	require.Equal(t, 401, send(func(r *http.Request, body []byte) []byte {
		s := r.Header.Get("X-Scheduler-Signature")
		r.Header.Set("X-Scheduler-Signature", strings.Replace(s, ",n=", ",n=A", 1))
		return body
	}))
	require.Equal(t, 400, send(func(*http.Request, []byte) []byte { return bytes.Repeat([]byte("x"), 5000) }))
	r := w.seen.Clone(t.Context())
	r.Method = http.MethodGet
	rec := httptest.NewRecorder()
	w.next.ServeHTTP(rec, r)
	require.Equal(t, 405, rec.Code)
	require.Equal(t, 1, o.count())

	// An answer that was recorded, and given to a later question.
	first := httptest.NewRecorder()
	w.change = func(_ http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(first, r) }
	_, err = c.Ask(t.Context(), n, question)
	require.Error(t, err)
	w.change = func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
		rw.Header().Set("X-Scheduler-Signature", first.Header().Get("X-Scheduler-Signature"))
		_, _ = rw.Write(first.Body.Bytes())
	}
	_, err = c.Ask(t.Context(), n, question)
	require.ErrorContains(t, err, "not signed")
}

// The API may be flooded, and strangers may come in crowds: answers are bounded
// and what is beyond is refused at once.
func TestAnswersAtOnceAreBounded(t *testing.T) {
	o := &other{hold: make(chan struct{})}
	n := serve(t, peering.NewServer(key, time.Now, o))
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	var calls sync.WaitGroup
	for range 128 {
		calls.Go(func() { _, _ = c.Ask(t.Context(), n, question) })
	}
	require.Eventually(t, func() bool { return o.count() == 128 }, 20*time.Second, time.Millisecond)
	_, err := c.Ask(t.Context(), n, question)
	require.ErrorContains(t, err, "503")
	close(o.hold)
	calls.Wait()
}

func TestARefusedAddressIsToldFromSilence(t *testing.T) {
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := at(t, "http://"+l.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = c.Ask(ctx, n, question) // it takes the connection, and says nothing
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, l.Close())
	_, err = c.Ask(t.Context(), n, question)
	require.ErrorIs(t, err, entity.ErrNobodyListens)
}

// The process at the other end of a kept connection ends: the next question finds
// out what is there now.
func TestAKeptConnectionThatBreaksTellsNothing(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: peering.NewServer(key, time.Now, &other{})}}
	s.Start()
	n := at(t, s.URL)
	c := peering.NewClient(key, time.Now, false)
	defer c.Close()
	_, err = c.Ask(t.Context(), n, question)
	require.NoError(t, err)
	s.CloseClientConnections()
	_, err = c.Ask(t.Context(), n, question)
	require.NoError(t, err)
	s.Close()
	_, err = c.Ask(t.Context(), n, question)
	require.True(t, errors.Is(err, entity.ErrNobodyListens), "%v", err)
}
