package running

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// attemptTime is when an attempt began and how long it may take. It begins with
// its entry, or, where it had to wait for something first, with the end of that
// (engine rule 22).
type attemptTime struct {
	mu    sync.Mutex
	start time.Time
	began time.Duration
	// waits: the attempt has not begun, because it waits.
	waits bool
	// limit ends the attempt; nil without a time-out.
	limit    *time.Timer
	deadline time.Time
}

// begin counts from now on.
func (at *attemptTime) begin(t *TaskManager, a *active) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.start, at.began, at.waits = t.StoreClock.Now(), t.Clock.Monotonic(), false
	d := a.run.Job.Timeout()
	if d <= 0 {
		return
	}
	at.deadline = time.Now().Add(d) //nolint:forbidigo // the deadline of a context is real time
	if at.limit == nil {
		at.limit = time.AfterFunc(d, func() { a.cancel(entity.ErrStopTimeout) }) //nolint:forbidigo // and so is what ends it
	} else {
		at.limit.Reset(d)
	}
}

// hold stops the time-out.
func (at *attemptTime) hold() {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.limit != nil {
		at.limit.Stop()
	}
}

// until is when the attempt of a job runs out of time; zero when never.
func (at *attemptTime) until(job *entity.Job) time.Time {
	at.mu.Lock()
	defer at.mu.Unlock()
	return job.DeadlineFrom(at.start)
}

// wait stops the time-out of an attempt that has not begun.
func (at *attemptTime) wait() {
	at.hold()
	at.mu.Lock()
	defer at.mu.Unlock()
	at.waits = true
}

// since is the start and the age; false where the attempt has not begun.
func (at *attemptTime) since(t *TaskManager) (start time.Time, age time.Duration, begun bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.start, t.Clock.Monotonic() - at.began, !at.start.IsZero() && !at.waits
}

// end is the start and the duration.
func (at *attemptTime) end(t *TaskManager) (start time.Time, took time.Duration) {
	at.hold()
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.start, t.Clock.Monotonic() - at.began
}

// context is that of the attempt, and tells its deadline.
func (at *attemptTime) context(a *active) context.Context {
	if at.limit == nil {
		return a.ctx
	}
	return &attemptContext{a.ctx, at}
}

// attemptContext ends by the time-out of its attempt, which begin may move.
type attemptContext struct {
	context.Context
	time *attemptTime
}

// Deadline implements context.Context.
func (c *attemptContext) Deadline() (time.Time, bool) {
	c.time.mu.Lock()
	defer c.time.mu.Unlock()
	return c.time.deadline, true
}

// Err implements context.Context: the end of the time is an exceeded deadline.
func (c *attemptContext) Err() error {
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), entity.ErrStopTimeout) {
		return context.DeadlineExceeded
	}
	return err
}

// Waits implements entity.Reporter.
func (a *active) Waits() (begins func()) {
	a.time.wait()
	return func() { a.time.begin(a.manager, a) }
}
