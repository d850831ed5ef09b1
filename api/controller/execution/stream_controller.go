package execution

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/sse"
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
	// streamPage is how many chunks one look reads.
	streamPage = 200
)

// StreamController serves logs while they grow.
type StreamController struct {
	logs  ExecutionService
	clock clock.Clock
	limit *sse.Limits
}

// NewStreamController serves the logs of a service.
func NewStreamController(logs ExecutionService, c clock.Clock) *StreamController {
	return &StreamController{logs: logs, clock: c, limit: sse.NewLimits(maxUserStreams, maxStreams,
		fmt.Sprintf("you follow %d logs on this node, and may follow no more at once; close one, or read pages of the log",
			maxUserStreams),
		"this node serves as many streams as it can; try again, or read pages of the log")}
}

// Follow answers GET /executions/{id}/logs/stream.
//
//	@Summary Follow the log of an execution while it grows
//	@Description The stream ends with the event end when the run is final, and after 15 minutes without it: connect again.
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
	leave, err := s.limit.Enter(user.ID)
	if err != nil {
		return err
	}
	defer leave()
	f := follower{
		StreamController: s, id: c.Param("id"), after: after, out: sse.Begin(c, s.clock), began: s.clock.Monotonic(),
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
	id    string
	after int64
	out   *sse.Writer
	began time.Duration
	// heard is when lines were sent.
	heard time.Duration
	// allowed is nil as long as the caller may go on, checked when it was so.
	allowed func() error
	checked time.Duration
}

func (f *follower) run(ctx context.Context) error {
	if err := f.out.Say(": following\n\n"); err != nil {
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
			return f.out.Say(vo.EndEvent(final))
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
	if now-f.checked < sse.RecheckEvery {
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
	if f.clock.Monotonic()-f.out.Spoke() >= sse.KeepAliveEvery {
		err = f.out.Say(vo.KeepAlive)
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
	return len(chunks) == streamPage, true, f.out.Say(b.String())
}
