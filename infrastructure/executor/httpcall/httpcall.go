// Package httpcall runs HTTP jobs: each attempt is one call of a service,
// bounded in time, redirects and size.
package httpcall

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// DefaultTimeout bounds an attempt of a job without a time limit.
const DefaultTimeout = 60 * time.Second

// Settings are what a node allows its calls.
type Settings struct {
	// Guard judges every address before it is dialled. Without one nothing but
	// the public internet may be called.
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for those of the
	// system.
	Roots *x509.CertPool
	// PerHost is the most calls of one host and port at a time; zero: no bound.
	PerHost int
	// BreakAfter calls in a row that could not connect to a host hold back
	// further ones for BreakFor. Zero switches that off.
	BreakAfter int
	BreakFor   time.Duration
	// Reports: the targets of asynchronous calls can report to the server, below
	// BaseURL where that is known.
	Reports bool
	BaseURL string
}

// Executor calls services. It is safe for concurrent use.
type Executor struct {
	clock    clock.Clock
	settings Settings
	hosts    *hosts
	breaker  *breaker
	caller   *caller
}

// New returns an Executor.
func New(c clock.Clock, s Settings) *Executor {
	if s.Guard == nil {
		s.Guard = outbound.New(outbound.Policy{})
	}
	h, b := newHosts(s.PerHost), newBreaker(c, s.BreakAfter, s.BreakFor)
	return &Executor{clock: c, settings: s, hosts: h, breaker: b, caller: newCaller(s, h, b, nil)}
}

// Close closes the connections that are kept. Nothing may run any more.
func (x *Executor) Close() { x.caller.close() }

// Check lists what is wrong with the job data of an HTTP job.
func (x *Executor) Check(job *entity.Job) []apperror.Field {
	_, faults := x.read(job, placeholder.Samples(job))
	return faults
}

// read makes a call out of a definition and the values of a run.
func (x *Executor) read(job *entity.Job, run *placeholder.Values) (call, []apperror.Field) {
	c, faults := parse(job.Data, run)
	if c.url != nil {
		if err := x.settings.Guard.Check(c.url); err != nil {
			faults = append(faults, apperror.Field{Field: jobdata.Path + ".url", Code: "not_allowed", Message: err.Error()})
		}
	}
	if c.async {
		faults = append(faults, x.checkAsync(job)...)
	}
	return c, faults
}

// Run calls the service once and returns when the call has ended. An
// asynchronous call that its target accepted goes on then, without this node.
// The time limit of the job, or DefaultTimeout, spans the whole attempt:
// resolving, connecting, redirects and reading the answer. Waiting for the store
// to take a token, and for one of the bounded calls of the host, comes before it;
// when the latter takes long, the attempt does not begin here, see
// entity.NotBegun.
func (x *Executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	limit := run.Job.Timeout()
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if run.Deadline.IsZero() {
		run.Deadline = x.clock.Now().Add(limit)
	}
	c, faults := x.read(run.Job, placeholder.Of(run))
	if len(faults) > 0 {
		return jobdata.Refused(faults, apperror.Invalid(faults).Error())
	}
	through, done := x.through(c)
	defer done()
	entered, where := x.clock.Monotonic(), origin(c.url)
	reserved, err := x.reserve(ctx, target{where, through.identity}, rep)
	switch {
	case errors.Is(err, errBusy):
		return x.hosts.busy(where)
	case err != nil:
		return entity.Failed(entity.ReasonError, "stopped while it waited for a place for calls of its host: "+err.Error())
	}
	defer reserved.free()
	a := &attempt{call: c, limit: limit, stage: stage{peer: c.url.Host}}
	if err := x.open(ctx, a, run, rep); err != nil {
		return a.failed(ctx, fmt.Errorf("get a token for the target's reports: %w", err))
	}
	began := x.clock.Monotonic()
	if reserved.waited || c.async { // the deadline moved, and the call may name it
		run.Deadline = run.Deadline.Add(began - entered)
		a.call, _ = x.read(run.Job, placeholder.Of(run))
	}
	limited, stop := x.within(context.WithValue(ctx, reservationKey{}, reserved), limit)
	defer stop()
	outcome := a.do(limited, through, run)
	a.tell(rep, x.clock.Monotonic()-began)
	return outcome
}

// reserve takes the permit of the first call before the attempt begins. A call that
// is held back needs none: it fails at once, and says why.
func (x *Executor) reserve(ctx context.Context, to target, rep entity.Reporter) (*reservation, error) {
	if x.breaker.holds(to) {
		return &reservation{}, nil
	}
	return x.hosts.reserve(ctx, x.clock, to.origin, rep)
}

// through is the caller for a call. One with an identity of its own gets a
// caller of its own: connections are not shared between identities.
func (x *Executor) through(c call) (through *caller, done func()) {
	if c.identity == nil {
		return x.caller, func() {}
	}
	settings := x.settings
	if c.identity.roots != nil {
		settings.Roots = c.identity.roots
	}
	own := newCaller(settings, x.hosts, x.breaker, c.identity.certificate)
	own.identity = c.identity.name()
	return own, own.close
}

// within bounds ctx by the clock's monotonic time.
func (x *Executor) within(ctx context.Context, limit time.Duration) (context.Context, func()) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := x.clock.NewTimer(limit)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel(entity.ErrStopTimeout)
		case <-limited.Done():
		}
	}()
	return limited, func() { cancel(context.Canceled) }
}
