// Package httpcall runs HTTP jobs. Each attempt is one call of a service, with bounds on time,
// redirects and size.
package httpcall

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/hosts"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/sendonce"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// DefaultTimeout bounds an attempt of a job without a time limit where the settings do not.
const DefaultTimeout = 60 * time.Second

// Settings are what a node allows its calls.
type Settings struct {
	// Guard checks each address before it is dialled. Without a guard only the public internet
	// may be called.
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for the system's roots.
	Roots *x509.CertPool
	// Hosts bounds the calls of each host.
	Hosts hosts.Settings
	// Timeout bounds an attempt of a job without a time limit; 0 is DefaultTimeout.
	Timeout time.Duration
	// Reports means that the targets of asynchronous calls can report to the server, below
	// BaseURL where that is known.
	Reports bool
	BaseURL string
}

// Executor calls services. Safe for concurrent use.
type Executor struct {
	clock    clock.Clock
	settings Settings
	hosts    *hosts.Hosts
	// shared makes the calls without a certificate or an authority of their own.
	shared *caller
}

// New returns an Executor.
func New(c clock.Clock, s Settings) *Executor {
	if s.Guard == nil {
		s.Guard = outbound.New(outbound.Policy{})
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	h := hosts.New(c, s.Hosts)
	return &Executor{clock: c, settings: s, hosts: h, shared: &caller{
		transport: sendonce.New(sendonce.Settings{Guard: s.Guard, Roots: s.Roots}), hosts: h,
	}}
}

// Close closes the kept connections. No call may run any more.
func (x *Executor) Close() { x.shared.transport.Close() }

// Check lists what is wrong with the job data of an HTTP job.
func (x *Executor) Check(job *entity.Job) []apperror.Field {
	_, faults := x.read(job, placeholder.Samples(job))
	r := jobdata.Read(job.Data, nil)
	if raw, given := r.Raw("method"); given && string(raw) == `""` {
		// A run still takes it for GET: jobs of older releases have it.
		faults = append(faults, apperror.Field{
			Field: jobdata.Path + ".method", Code: "unknown_value",
			Message: fmt.Sprintf("must be one of %s, or left out for GET", strings.Join(methods, ", ")),
		})
	}
	return faults
}

// read makes a call of a definition and the values of a run.
func (x *Executor) read(job *entity.Job, run *placeholder.Values) (call, []apperror.Field) {
	c, faults := parse(job.Data, run)
	if c.url != nil && job.Routing.Workers == "" { // the guard of the worker judges, not that of this node
		if err := x.settings.Guard.Check(c.url); err != nil {
			faults = append(faults, apperror.Field{Field: jobdata.Path + ".url", Code: "not_allowed", Message: err.Error()})
		}
	}
	if c.async {
		faults = append(faults, x.checkAsync(job)...)
	}
	return c, faults
}

// Run calls the service once and returns when the call has ended. An asynchronous call that its
// target accepted then goes on without this node.
//
// The time limit of the job, or that of the settings, spans the whole attempt: to resolve, connect,
// follow redirects and read the answer. Two waits come before it: for the store to take a
// token, and for a permit of the host. When the wait for a permit is long, the attempt does not
// begin here, see entity.NotBegun. Neither does one whose first call is held back, see entity.HeldBack.
func (x *Executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	limit := run.Job.Timeout()
	if limit <= 0 {
		limit = x.settings.Timeout
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
	reserved, err := x.hosts.Reserve(ctx, hosts.Target{Origin: where, Identity: through.credentials}, run, rep)
	var held *hosts.HeldBack
	switch {
	case errors.As(err, &held):
		return held.Outcome(where)
	case errors.Is(err, hosts.ErrBusy):
		return x.hosts.Busy(where)
	case err != nil:
		return entity.Failed(entity.ReasonError, "stopped while it waited for a permit of its host: "+err.Error())
	}
	defer reserved.Free()
	a := &attempt{clock: x.clock, call: c, limit: limit, stage: stage{peer: c.url.Host}}
	if err := x.open(ctx, a, run, rep); err != nil {
		return a.failed(ctx, fmt.Errorf("get a token for the target's reports: %w", err))
	}
	began := x.clock.Monotonic()
	if reserved.Waited() || c.async { // the deadline moved, and the call may name it
		run.Deadline = run.Deadline.Add(began - entered)
		a.call, _ = x.read(run.Job, placeholder.Of(run))
	}
	limited, stop := x.within(reserved.In(ctx), limit)
	defer stop()
	outcome := a.do(limited, through, run)
	if outcome.IsHeldBack() {
		return outcome
	}
	if hold := entity.HoldOf(run.Execution.Holds, run.Execution.Attempt); hold.Count > 0 {
		rep.Log(entity.LogSystem, fmt.Sprintf("held back %s, before this attempt: calls in a row could not connect to %s",
			hold, where))
	}
	a.tell(rep, x.clock.Monotonic()-began)
	return outcome
}

// through returns the caller of a call. A call with credentials of its own gets a caller of its
// own: calls with different credentials share no connections.
func (x *Executor) through(c call) (through *caller, done func()) {
	if c.credentials == nil {
		return x.shared, func() {}
	}
	settings := sendonce.Settings{Guard: x.settings.Guard, Roots: x.settings.Roots, Certificate: c.credentials.certificate}
	if c.credentials.roots != nil {
		settings.Roots = c.credentials.roots
	}
	own := &caller{transport: sendonce.New(settings), hosts: x.hosts, credentials: c.credentials.name()}
	return own, own.transport.Close
}

// within bounds ctx by monotonic time.
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
