// Package sendonce sends each HTTP request exactly once (engine rule 30).
//
// The transport of the standard library sends some requests a second time when a kept
// connection breaks: those without a body, or whose body it can repeat, if their method or
// an Idempotency-Key makes them idempotent. But the target may have acted on the first.
package sendonce

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Transport takes from requests what makes the transport of the standard library send
// them again. Safe for concurrent use.
type Transport struct {
	shared *http.Transport
	// plain speaks HTTP/1.1 alone. It takes requests that must show that they have no
	// body; HTTP/2 would send those again after some errors.
	plain *http.Transport
}

// New returns a transport; Close closes the connections that it keeps.
func New(s Settings) *Transport {
	t := &Transport{shared: newTransport(s), plain: newTransport(s)}
	t.plain.Protocols.SetHTTP2(false)
	return t
}

// Close closes unused connections.
func (t *Transport) Close() {
	t.shared.CloseIdleConnections()
	t.plain.CloseIdleConnections()
}

// Send sends a request, unless the node may not act any more: then it fails with entity.ErrStopLost. It sends again
// only when the target closed the kept connection before a byte was written. reached reports whether there was a
// connection to the target. connected, unless nil, is called once there is a new one, while the answer is to come; a
// kept one may be gone.
func (t *Transport) Send(request *http.Request, connected func()) (response *http.Response, reached bool, err error) {
	body, rewind, transport := request.Body, request.GetBody, t.shared
	if body == nil || body == http.NoBody {
		rewind = nil
		switch request.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			// The transport does not know that this body is empty. For these methods it
			// finds out, and sends no body.
			body = io.NopCloser(strings.NewReader(""))
		default:
			body, transport = http.NoBody, t.plain
		}
	}
	for {
		if !entity.MayAct(request.Context()) {
			return nil, false, entity.ErrStopLost
		}
		w := &wire{opened: connected}
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

// hideKeys writes the headers that make a request idempotent in lower case. Targets read
// them in any case, and the transport does not know them then.
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
