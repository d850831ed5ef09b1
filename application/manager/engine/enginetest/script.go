package enginetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Script is an executor that a test steers: every run is noted, and ends as
// its reply says. Safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	seen  []entity.Run
	reply Reply
	ended chan struct{}
	once  sync.Once
}

// Reply plays one attempt. It should return when ctx ends.
type Reply func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome

// NewScript answers every run with SUCCESS and the result "done".
func NewScript() *Script {
	return &Script{ended: make(chan struct{}), reply: Always(entity.Succeeded("done"))}
}

// Always answers every run with one outcome.
func Always(o entity.Outcome) Reply {
	return func(context.Context, entity.Run, entity.Reporter) entity.Outcome { return o }
}

// Reply says how runs end from now on.
func (s *Script) Reply(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = r
}

// Hold makes runs go on until release is called or they are told to stop; a
// run that is released succeeds.
func (s *Script) Hold() (release func()) {
	open := make(chan struct{})
	s.Reply(func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
		select {
		case <-open:
			return entity.Succeeded("done")
		case <-s.ended:
			return entity.Succeeded("done")
		case <-ctx.Done():
			return Stopped(ctx)
		}
	})
	return sync.OnceFunc(func() { close(open) })
}

// Stopped is how an obedient executor reports that its run was told to stop.
func Stopped(ctx context.Context) entity.Outcome {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, entity.ErrStopCancel):
		return entity.Outcome{Status: entity.StatusCancelled}
	case errors.Is(cause, entity.ErrStopTimeout):
		return entity.Outcome{Status: entity.StatusTimeout, Reason: entity.ReasonTimeout}
	default:
		return entity.Failed(entity.ReasonShutdown, "the node stops")
	}
}

// End releases every run that is held; the node's Start calls it at the end.
func (s *Script) End() { s.once.Do(func() { close(s.ended) }) }

// Run implements running.Executor.
func (s *Script) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	s.mu.Lock()
	s.seen = append(s.seen, entity.Run{Job: run.Job, Execution: copyOf(run.Execution)})
	reply := s.reply
	s.mu.Unlock()
	return reply(ctx, run, rep)
}

// Runs are the attempts that began so far, in the order of their beginnings.
func (s *Script) Runs() []entity.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]entity.Run(nil), s.seen...)
}

// Await waits until that many attempts have begun, and returns them.
func (s *Script) Await(t testing.TB, attempts int) []entity.Run {
	t.Helper()
	Await(t, func() bool { return len(s.Runs()) >= attempts }, "%d attempts begin", attempts)
	return s.Runs()
}

func copyOf(e *entity.Execution) *entity.Execution {
	c := *e
	return &c
}
