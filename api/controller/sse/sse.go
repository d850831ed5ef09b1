// Package sse serves streams of server-sent events: how many there may be, and writes that
// do not wait for readers who are too slow.
package sse

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const (
	// KeepAliveEvery is the longest silence of a stream.
	KeepAliveEvery = 15 * time.Second
	// RecheckEvery is how often the rights of the caller are looked up again; with one look
	// at the store it stays within KeepAliveEvery.
	RecheckEvery = 10 * time.Second
	// writeTimeout bounds one write to a client that does not read.
	writeTimeout = 30 * time.Second
	// retryAfter is what those are told who find no place, in seconds.
	retryAfter = 5
)

// Limits bounds the streams of a kind on this node. Safe for concurrent use.
type Limits struct {
	perUser, all             int
	userRefusal, nodeRefusal string

	mu     sync.Mutex
	open   map[string]int
	opened int
}

// NewLimits lets a user have perUser streams and the node all of them; the texts tell those
// who want more.
func NewLimits(perUser, all int, userTold, nodeTold string) *Limits {
	return &Limits{perUser: perUser, all: all, userRefusal: userTold, nodeRefusal: nodeTold, open: map[string]int{}}
}

// Enter takes a place for a stream of a user, so that none takes all of them.
func (l *Limits) Enter(user string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind, text := apperror.KindTooMany, l.userRefusal
	switch {
	case l.open[user] >= l.perUser:
	case l.opened >= l.all:
		kind, text = apperror.KindUnavailable, l.nodeRefusal
	default:
		l.open[user]++
		l.opened++
		return func() { l.leave(user) }, nil
	}
	refusal := apperror.New(kind, "too_many_streams", text)
	refusal.RetryAfterSec = retryAfter
	return nil, refusal
}

func (l *Limits) leave(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened--
	if l.open[user]--; l.open[user] == 0 {
		delete(l.open, user)
	}
}

// Writer writes one stream. It belongs to one goroutine.
type Writer struct {
	out     io.Writer
	control *http.ResponseController
	clock   clock.Clock
	spoke   time.Duration
}

// Begin answers with a stream.
func Begin(c *gin.Context, clk clock.Clock) *Writer {
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would hold lines back
	c.Status(http.StatusOK)
	return &Writer{out: c.Writer, control: http.NewResponseController(c.Writer), clock: clk}
}

// Say writes and pushes it through. A client that does not read in time gets an error.
func (w *Writer) Say(text string) error {
	// Not every writer has deadlines; one without is a test's.
	_ = w.control.SetWriteDeadline(w.clock.Now().Add(writeTimeout))
	if _, err := io.WriteString(w.out, text); err != nil {
		return err
	}
	w.spoke = w.clock.Monotonic()
	return w.control.Flush()
}

// Spoke is when anything was written, in monotonic time.
func (w *Writer) Spoke() time.Duration { return w.spoke }
