// Package ping calls addresses that wait for a sign of life.
package ping

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/sendonce"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

const (
	// timeout bounds a call.
	timeout = 10 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 4 << 10
)

// Caller calls addresses. The guard judges each when it is dialled. Safe for concurrent use.
type Caller struct{ transport *sendonce.Transport }

// New returns a caller; Close closes the connections that it keeps.
func New(guard *outbound.Guard) *Caller {
	return &Caller{sendonce.New(sendonce.Settings{Guard: guard})}
}

// Close closes unused connections.
func (c *Caller) Close() { c.transport.Close() }

// Get calls an address. An answer other than 2xx is an error. Errors name the host alone: the
// path of such an address is a secret.
func (c *Caller) Get(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("the address is not valid")
	}
	request.Header.Set("User-Agent", "platform-scheduler")
	response, _, err := c.transport.Send(request, nil)
	if err != nil {
		return fmt.Errorf("%s", post.Trouble(channelconfig.Mask{}, request.URL.Hostname(), err).Text)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s answered with the status %d", request.URL.Hostname(), response.StatusCode)
	}
	return nil
}
