package execution

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// maxStreams bounds the streams of a node, maxUserStreams those of one user.
	maxStreams     = 1000
	maxUserStreams = 20
	// streamLife bounds one stream, as proxies and connections are not for ever.
	streamLife = 15 * time.Minute
	// busyPause and idlePause are the waits between two looks: while lines came
	// within the last busyTime, and else. A run's lines are stored in gushes, so
	// that one look without any says little.
	busyPause = 250 * time.Millisecond
	idlePause = time.Second
	busyTime  = 2 * time.Second
	// keepAliveEvery is the longest silence of a stream.
	keepAliveEvery = 15 * time.Second
	// recheckEvery is how often the rights of the caller are looked up again;
	// with one look at the log it stays within keepAliveEvery.
	recheckEvery = 10 * time.Second
	// streamPage is how many chunks one look reads.
	streamPage = 200
	// streamWrite bounds one write to a client that does not read.
	streamWrite = 30 * time.Second
)

// LogFollower reads runs and their logs.
type LogFollower interface {
	Get(ctx context.Context, id string) (*entity.Execution, error)
	Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error)
}

// StreamController serves logs while they grow.
type StreamController struct {
	logs  LogFollower
	clock clock.Clock

	mu sync.Mutex
	// open are the streams of each user, all those of the node.
	open map[string]int
	all  int
}

// NewStreamController serves the logs of a service.
func NewStreamController(logs LogFollower, c clock.Clock) *StreamController {
	return &StreamController{logs: logs, clock: c, open: map[string]int{}}
}

// enter takes a place for a stream of a user, so that none takes all of them.
func (s *StreamController) enter(user string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user] >= maxUserStreams {
		f := apperror.New(apperror.KindTooMany, "too_many_streams",
			fmt.Sprintf("you follow %d logs on this node, and may follow no more at once; close one, or read pages of the log",
				maxUserStreams))
		f.RetryAfterSec = 5
		return nil, f
	}
	if s.all >= maxStreams {
		f := apperror.New(apperror.KindUnavailable, "too_many_streams",
			"this node serves as many streams as it can; try again, or read pages of the log")
		f.RetryAfterSec = 5
		return nil, f
	}
	s.open[user]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.open[user]--; s.open[user] == 0 {
			delete(s.open, user)
		}
	}, nil
}

// Follow answers GET /executions/{id}/logs/stream.
//
//	@Summary Follow the log of an execution while it grows
//	@Description The stream ends with the event end when the run is final, and after 15 minutes without it: connect again.
//	@Tags executions
//	@Param id path string true "id of the execution"
//	@Param cursor query string false "seq of the last line that was read" maxlength(512)
//	@Param Last-Event-ID header string false "the same, as browsers send it when they connect again"
//	@Produce text/event-stream
//	@Success 200 {string} string "server-sent events: line with a LogLine, end with the status"
//	@Failure 429 {object} problem.Problem "the user follows as many logs as one may; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Failure 503 {object} problem.Problem "the node serves as many streams as it can, or the store is away"
//	@Router /api/v1/executions/{id}/logs/stream [get]
func (s *StreamController) Follow(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	from := q.Text("cursor")
	if err := q.Done(); err != nil {
		return err
	}
	if id := c.GetHeader("Last-Event-ID"); id != "" {
		from = id
	}
	after, err := strconv.ParseInt(strings.TrimSpace("0"+from), 10, 64)
	if err != nil {
		return apperror.InvalidField("Last-Event-ID", "invalid_cursor", "must be the id of a line, which is its seq")
	}
	if _, err := s.logs.Get(c.Request.Context(), c.Param("id")); err != nil {
		return err
	}
	user, _ := middleware.UserOf(c)
	leave, err := s.enter(user.ID)
	if err != nil {
		return err
	}
	defer leave()
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would hold lines back
	c.Status(http.StatusOK)
	f := follower{
		StreamController: s, id: c.Param("id"), after: after, out: c.Writer,
		control: http.NewResponseController(c.Writer), began: s.clock.Monotonic(),
	}
	f.allowed, f.checked = func() error { return middleware.Recheck(c) }, f.began
	f.heard = f.began - busyTime
	// Once the stream has begun, nothing can be told but that it ends: a client
	// that has not seen the end event connects again.
	_ = f.run(c.Request.Context())
	return nil
}

// follower is one stream.
type follower struct {
	*StreamController
	id      string
	after   int64
	out     io.Writer
	control *http.ResponseController
	began   time.Duration
	// spoke is when anything was sent, heard when lines were.
	spoke, heard time.Duration
	// allowed is nil as long as the caller may go on, checked when it was so.
	allowed func() error
	checked time.Duration
}

func (f *follower) run(ctx context.Context) error {
	if err := f.say(": following\n\n"); err != nil {
		return err
	}
	timer := f.clock.NewTimer(0)
	defer timer.Stop()
	final := entity.Status("")
	for f.clock.Monotonic()-f.began < streamLife {
		if err := f.recheck(); err != nil {
			return err
		}
		more, said, err := f.lines(ctx)
		switch {
		case err != nil:
			return err
		case more || said && final != "":
			continue
		case !said && final != "": // it was final before this look: all is told
			return f.say(vo.EndEvent(final))
		case !said:
			if final, err = f.end(ctx); err != nil {
				return err
			}
			if final != "" {
				continue
			}
		}
		if f.clock.Monotonic()-f.heard < busyTime {
			timer.Reset(busyPause)
		} else {
			timer.Reset(idlePause)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C():
		}
	}
	return nil
}

// recheck ends the stream of one whose session, token or right is gone.
func (f *follower) recheck() error {
	now := f.clock.Monotonic()
	if now-f.checked < recheckEvery {
		return nil
	}
	f.checked = now
	return f.allowed()
}

// end is the status of a run that is final, or "". A silence that lasts is
// broken.
func (f *follower) end(ctx context.Context) (entity.Status, error) {
	run, err := f.logs.Get(ctx, f.id)
	if err != nil {
		return "", err
	}
	if run.Status.Final() {
		return run.Status, nil
	}
	if f.clock.Monotonic()-f.spoke >= keepAliveEvery {
		err = f.say(vo.KeepAlive)
	}
	return "", err
}

// lines sends what is new; more says that there may be more at once.
func (f *follower) lines(ctx context.Context) (more, said bool, err error) {
	chunks, err := f.logs.Logs(ctx, repository.LogPage{ExecutionID: f.id, AfterSeq: f.after, Limit: streamPage})
	if err != nil || len(chunks) == 0 {
		return false, false, err
	}
	var b strings.Builder
	for _, line := range vo.FromChunks(chunks, f.after, int(chunks[len(chunks)-1].SeqTo-f.after), false).Items {
		event, err := vo.LineEvent(line)
		if err != nil {
			return false, false, err
		}
		b.WriteString(event)
		f.after = line.Seq
	}
	f.after = max(f.after, chunks[len(chunks)-1].SeqTo)
	f.heard = f.clock.Monotonic()
	return len(chunks) == streamPage, true, f.say(b.String())
}

// say writes and pushes it through.
func (f *follower) say(text string) error {
	// Not every writer has deadlines; one without is a test's.
	_ = f.control.SetWriteDeadline(f.clock.Now().Add(streamWrite))
	if _, err := io.WriteString(f.out, text); err != nil {
		return err
	}
	f.spoke = f.clock.Monotonic()
	return f.control.Flush()
}
