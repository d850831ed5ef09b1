// Package httpcall runs HTTP jobs: each attempt is one call of a service,
// bounded in time, redirects and size.
package httpcall

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/report"
)

// The bounds of a call.
const (
	// DefaultTimeout bounds an attempt of a job without a time limit.
	DefaultTimeout = 60 * time.Second
	connectTimeout = 10 * time.Second
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
)

// Executor calls services. It is safe for concurrent use.
type Executor struct {
	clock     clock.Clock
	transport http.RoundTripper
	reports   *report.Registry
}

// New returns an Executor that trusts the certificates signed by roots; nil
// stands for those of the system.
func New(c clock.Clock, roots *x509.CertPool) *Executor {
	return &Executor{clock: c, transport: newTransport(roots)}
}

// newTransport opens a connection for every request and closes it afterwards.
// A transport that keeps connections sends some requests a second time when a
// kept connection breaks, although the target may have acted on the first; and
// where it does not, the request is lost to a connection that the target just
// closed for idleness. A new connection has neither fault, so each attempt is
// sent exactly once (engine rule 30). It speaks HTTP/1.1 alone, since HTTP/2
// has rules of its own for sending again and gains nothing on one request.
// Proxies of the environment are not used, and nothing is decompressed, so
// that the bounds on sizes count what was sent.
func newTransport(roots *x509.CertPool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: -1}
	return &http.Transport{
		Proxy:       nil,
		DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			RootCAs:            roots,
			ClientSessionCache: tls.NewLRUClientSessionCache(0),
		},
		TLSHandshakeTimeout:    connectTimeout,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
	}
}

// Check lists what is wrong with the job data of an HTTP job.
func (x *Executor) Check(job *entity.Job) []fault.Field {
	c, faults := parse(job.Data)
	if c.async {
		faults = append(faults, x.checkAsync(job)...)
	}
	return faults
}

// Run calls the service once and returns when the call has ended. The time
// limit of the job, or DefaultTimeout, spans the whole attempt: resolving,
// connecting, redirects and reading the answer.
func (x *Executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	c, _ := parse(run.Job.Data)
	if faults := x.Check(run.Job); len(faults) > 0 {
		return entity.Failed(entity.ReasonInvalid, fault.Invalid(faults).Error())
	}
	limit := run.Job.Timeout()
	if limit <= 0 {
		limit = DefaultTimeout
	}
	began := x.clock.Monotonic()
	limited, stop := x.within(ctx, limit)
	defer stop()
	a := &attempt{call: c, limit: limit}
	if !c.async {
		outcome := a.do(limited, x.transport, run)
		rep.Log(entity.LogSystem, a.line(x.clock.Monotonic()-began))
		return outcome
	}
	// Before the request: the target may report before it has answered.
	wait := x.reports.Open(run.Execution, rep)
	defer wait.Close()
	a.token = wait.Token()
	outcome := a.do(limited, x.transport, run)
	rep.Log(entity.LogSystem, a.line(x.clock.Monotonic()-began))
	if outcome.Status != entity.StatusSuccess {
		return outcome
	}
	return a.await(limited, wait)
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
