package console

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// crowd is all browsers, and what they have seen since begin. Safe for concurrent use.
type crowd struct {
	clock  clock.Clock
	server string
	client *http.Client
	// waiting is for all their goroutines.
	waiting sync.WaitGroup
	// open counts their open streams, events what these have told.
	open, events atomic.Int64

	mu   sync.Mutex
	seen seen
	// why is the latest loss of a stream.
	why error
}

// seen is what browsers saw in a span.
type seen struct {
	answers, notModified, bytes, lost int
	byPage                            map[string]int
	ms                                []float64
	failures                          []error
}

func newCrowd(c clock.Clock, server string, browsers int) *crowd {
	return &crowd{
		clock: c, server: server, client: &http.Client{Transport: newTransport(browsers)},
		seen: seen{byPage: map[string]int{}},
	}
}

// add lets a browser come after a while; it leaves at the end of ctx.
func (c *crowd) add(ctx context.Context, session string, after time.Duration) {
	b := &browser{crowd: c, session: session, pages: pages(c.clock.Now()), failures: -1}
	c.waiting.Go(func() { b.watch(ctx, after) })
}

// wait waits for all browsers to leave.
func (c *crowd) wait() {
	c.waiting.Wait()
	c.client.CloseIdleConnections()
}

// begin forgets what was seen.
func (c *crowd) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = seen{byPage: map[string]int{}}
	c.events.Store(0)
}

// end sums up what was seen in a span.
func (c *crowd) end(r *report.Console, span time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seen
	r.Answers, r.NotModified, r.StreamsLost, r.Errors = s.answers, s.notModified, s.lost, len(s.failures)
	r.AnswersPerSecond, r.EventsPerSecond = float64(s.answers)/span.Seconds(), float64(c.events.Load())/span.Seconds()
	r.BodyKBPerSecond, r.AnswerMs = float64(s.bytes)/1000/span.Seconds(), measure.Summarize(s.ms)
	r.ByPage = map[string]float64{}
	for name, n := range s.byPage {
		r.ByPage[name] = float64(n) / span.Seconds()
	}
}

func (c *crowd) answered(page string, size int, notModified bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.answers++
	c.seen.byPage[page]++
	c.seen.bytes += size
	if notModified {
		c.seen.notModified++
	}
	c.seen.ms = append(c.seen.ms, float64(took.Microseconds())/1000)
}

func (c *crowd) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.failures = append(c.seen.failures, err)
}

func (c *crowd) lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.lost++
	c.why = err
}

// failure is why the latest stream was lost.
func (c *crowd) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		return errors.New("they are on their way")
	}
	return c.why
}

// failures are the reads that failed since begin.
func (c *crowd) failures() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.failures
}
