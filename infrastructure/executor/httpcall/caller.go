package httpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/hosts"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/sendonce"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// caller sends requests within the bounds of their hosts. It implements
// http.RoundTripper.
type caller struct {
	transport *sendonce.Transport
	hosts     *hosts.Hosts
	// credentials names the certificate and the authority of the calls; "" means neither.
	credentials string
}

// RoundTrip implements http.RoundTripper.
func (c *caller) RoundTrip(request *http.Request) (*http.Response, error) {
	call, err := c.hosts.Begin(request.Context(), hosts.Target{Origin: origin(request.URL), Identity: c.credentials})
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	// A target that takes its time to answer is reached: nobody is held back until it does.
	response, reached, err := c.transport.Send(request, func() { call.Connected(true, false) })
	call.Connected(reached, !blameless(request.Context(), err))
	if err != nil {
		call.Leave()
		return nil, err
	}
	response.Body = &visited{ReadCloser: response.Body, leave: sync.OnceFunc(call.Leave)}
	return response, nil
}

// blameless reports a failure to connect that says nothing about the target.
func blameless(ctx context.Context, err error) bool {
	var refused *outbound.Refusal
	return errors.As(err, &refused) || ctx.Err() != nil && !errors.Is(context.Cause(ctx), entity.ErrStopTimeout)
}

// visited is the body of an answer; Close returns the permit of the host.
type visited struct {
	io.ReadCloser
	leave func()
}

// Close implements io.Closer.
func (v *visited) Close() error {
	defer v.leave()
	return v.ReadCloser.Close()
}
