package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/hosts"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// userAgent names the product, unless the job sets the header.
const userAgent = "platform-scheduler"

// attempt is one call in progress. It belongs to one goroutine.
type attempt struct {
	clock clock.Clock
	call  call
	limit time.Duration
	// With the token, the target of an asynchronous call reports to reportURL.
	token     string
	reportURL string
	stage     stage
	// sent is the latest request; hops are those before it, with what redirected them.
	sent *http.Request
	hops []string
	// status is 0 until the final answer begins.
	status  int
	answer  answer
	headers string
	trouble string
}

// do sends the request, reads the answer and returns the outcome.
func (a *attempt) do(ctx context.Context, transport http.RoundTripper, run entity.Run) entity.Outcome {
	request, err := a.request(ctx, run)
	if err != nil {
		return a.failed(ctx, err)
	}
	response, err := a.send(transport, request) //nolint:contextcheck // each request has that of the first
	var moved redirected
	if err != nil && !errors.As(err, &moved) {
		return a.failed(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	a.status = response.StatusCode
	a.headers = headersText(response.Header)
	a.stage.enter(reading)
	err = a.answer.read(response, a.call.contains)
	if moved != "" {
		o := a.failedByAnswer(entity.ReasonRedirected, moved.Error())
		o.NoRetry = true
		return o
	}
	if err != nil && ctx.Err() != nil {
		return a.failed(ctx, err)
	}
	if !a.call.expected.has(a.status) {
		o := a.failedByAnswer(entity.ReasonHTTPStatus, fmt.Sprintf("status %s is not among the expected %s",
			statusText(a.status), a.call.expected.text))
		o.Asked = outbound.RetryAfter(response, a.clock.Now())
		return o
	}
	if err != nil {
		return a.failed(ctx, err)
	}
	if !a.answer.matched {
		return a.failedByAnswer(entity.ReasonBodyMismatch, "the answer does not contain the expected text"+a.answer.scope())
	}
	if a.call.async {
		return entity.Accepted()
	}
	o := entity.Succeeded(a.answer.text())
	o.Cut = a.answer.cut()
	return o
}

// failedByAnswer is a failure because of the answer.
func (a *attempt) failedByAnswer(reason entity.Reason, message string) entity.Outcome {
	a.trouble = message
	o := entity.Failed(reason, message)
	o.Result = a.answer.text()
	return o
}

// failed is the outcome of a call without a complete answer.
func (a *attempt) failed(ctx context.Context, err error) entity.Outcome {
	cause := context.Cause(ctx)
	var held *hosts.HeldBack
	if cause == nil && len(a.hops) == 0 && errors.As(err, &held) {
		return held.Outcome(origin(a.call.url))
	}
	if cause == nil {
		a.trouble = a.stage.String() + ": " + reasonOf(err)
	} else {
		a.trouble = a.stage.String() + ": " + cause.Error()
	}
	o := entity.Failed(entity.ReasonError, a.trouble)
	o.Result = a.answer.text()
	if cause == nil && errors.Is(err, entity.ErrStopLost) {
		o.Reason = entity.ReasonNodeLost
	}
	if errors.Is(cause, entity.ErrStopTimeout) {
		a.trouble = fmt.Sprintf("%s: no end within %s", a.stage.String(), a.limit)
		o.Status, o.Reason, o.Message = entity.StatusTimeout, entity.ReasonTimeout, a.trouble
	}
	return o
}

func (a *attempt) request(ctx context.Context, run entity.Run) (*http.Request, error) {
	ctx = httptrace.WithClientTrace(ctx, a.stage.trace(a.call.url.Host))
	var request *http.Request
	var err error
	if a.call.body == "" {
		request, err = http.NewRequestWithContext(ctx, a.call.method, a.call.url.String(), http.NoBody)
	} else {
		request, err = http.NewRequestWithContext(ctx, a.call.method, a.call.url.String(), strings.NewReader(a.call.body))
	}
	if err != nil {
		return nil, err
	}
	request.Header = a.call.header
	a.sent = request
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", userAgent)
	}
	if a.call.body != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", contentType(a.call.body))
	}
	identify(request.Header, run)
	if a.token != "" {
		request.Header.Set(tokenHeader, a.token)
		request.Header.Set(reportPathHeader, reportPath(run.Execution.ID))
		request.Header.Set(reportURLHeader, a.reportURL)
	}
	return request, nil
}

func contentType(body string) string {
	if json.Valid([]byte(body)) {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

// tell writes the result of the call into the run's log: each request that was sent, and what it came to.
func (a *attempt) tell(rep entity.Reporter, took time.Duration) {
	for _, hop := range a.hops {
		rep.Log(entity.LogSystem, hop)
	}
	rep.Log(entity.LogSystem, a.line(took))
	if a.headers != "" {
		rep.Log(entity.LogSystem, "answered with "+a.headers)
	}
	if a.answer.charset != "" {
		rep.Log(
			entity.LogSystem,
			fmt.Sprintf("the charset %.40q of the answer is not known; it is read as UTF-8", a.answer.charset),
		)
	}
}

// line describes the latest request for the run's log. It never holds a query or a header, which may hold
// secrets.
func (a *attempt) line(took time.Duration) string {
	var b strings.Builder
	if a.sent != nil {
		b.WriteString(sentText(a.sent))
	} else {
		b.WriteString(a.call.method + " " + addressText(a.call.url))
	}
	if a.status != 0 {
		fmt.Fprintf(&b, ": %s, %d bytes", statusText(a.status), min(a.answer.sent.n, maxRead))
	} else {
		b.WriteString(": no answer")
	}
	fmt.Fprintf(&b, " after %d ms", took.Milliseconds())
	if a.trouble != "" {
		b.WriteString("; " + a.trouble)
	}
	return b.String()
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
