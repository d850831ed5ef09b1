package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// caller sends each request exactly once (engine rule 30). The transport of
// the standard library sends some a second time when a kept connection breaks:
// those that have no body or can repeat it, and are idempotent by their method
// or by an Idempotency-Key. The target may have acted on the first. caller
// takes from requests what makes the transport do so, and sends again only
// where not a byte had gone out. It implements http.RoundTripper.
type caller struct {
	transport *http.Transport
	// plain speaks HTTP/1.1 alone. It takes requests whose want of a body must
	// be seen, which HTTP/2 would send again after some errors.
	plain   *http.Transport
	hosts   *hosts
	breaker *breaker
	// identity tells callers with certificates or authorities of their own apart.
	identity string
}

func newCaller(s Settings, h *hosts, b *breaker, certificate *tls.Certificate) *caller {
	c := &caller{transport: newTransport(s, certificate), plain: newTransport(s, certificate), hosts: h, breaker: b}
	c.plain.Protocols.SetHTTP2(false)
	return c
}

func (c *caller) close() {
	c.transport.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

// RoundTrip implements http.RoundTripper.
func (c *caller) RoundTrip(request *http.Request) (*http.Response, error) {
	trial, visit, err := c.begin(request.Context(), origin(request.URL))
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	response, reached, err := c.send(request)
	trial.end(reached, !blameless(request.Context(), err))
	if err != nil {
		visit.leave()
		return nil, err
	}
	response.Body = &visited{ReadCloser: response.Body, leave: sync.OnceFunc(visit.leave)}
	return response, nil
}

// begin checks that the node may call, and waits for a permit of the host.
func (c *caller) begin(ctx context.Context, where string) (*trial, *visit, error) {
	trial, err := c.breaker.begin(target{where, c.identity})
	if err != nil {
		return nil, nil, err
	}
	visit, err := c.hosts.enter(ctx, where)
	if err != nil {
		trial.end(false, false)
		return nil, nil, err
	}
	return trial, visit, nil
}

// blameless are failures to connect that say nothing of the target.
func blameless(ctx context.Context, err error) bool {
	var refused *outbound.Refusal
	return errors.As(err, &refused) || ctx.Err() != nil && !errors.Is(context.Cause(ctx), entity.ErrStopTimeout)
}

// send gives a request to a transport, and again when the kept connection it
// was put on turns out to be closed before anything was written.
func (c *caller) send(request *http.Request) (response *http.Response, reached bool, err error) {
	body, rewind, transport := request.Body, request.GetBody, c.transport
	if body == nil || body == http.NoBody {
		rewind = nil
		switch request.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			// A body that the transport does not know to be empty. It finds out
			// that it is, for these methods, and sends none.
			body = io.NopCloser(strings.NewReader(""))
		default:
			body, transport = http.NoBody, c.plain
		}
	}
	for {
		if !entity.MayAct(request.Context()) {
			return nil, false, entity.ErrStopLost
		}
		w := &wire{}
		r := request.WithContext(httptrace.WithClientTrace(request.Context(), w.trace()))
		r.Body, r.GetBody = body, nil
		response, err = transport.RoundTrip(hideKeys(r))
		if err == nil || !w.untouched() || request.Context().Err() != nil {
			return response, w.reached(), err
		}
		if rewind != nil {
			if body, err = rewind(); err != nil {
				return nil, true, err
			}
		}
	}
}

// hideKeys writes the headers that make a request idempotent in lower case,
// which means the same to every target and nothing to the transport.
func hideKeys(r *http.Request) *http.Request {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		value, given := r.Header[name]
		if !given {
			continue
		}
		header := r.Header.Clone()
		delete(header, name)
		header[strings.ToLower(name)] = value
		r.Header = header
	}
	return r
}

// visited is the body of an answer; closing it ends the visit of the host.
type visited struct {
	io.ReadCloser
	leave func()
}

// Close implements io.Closer.
func (v *visited) Close() error {
	defer v.leave()
	return v.ReadCloser.Close()
}
