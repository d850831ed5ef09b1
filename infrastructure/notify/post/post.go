// Package post sends messages of channels over HTTP, within bounds. Every address passes the guard
// when it is dialled; redirects are not followed.
package post

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/sendonce"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// The bounds of a call.
const (
	// DefaultTimeout bounds a call as a whole.
	DefaultTimeout = 10 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// Settings are what a client needs.
type Settings struct {
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for the system's roots.
	Roots *x509.CertPool
	// Timeout bounds a call; 0 is DefaultTimeout.
	Timeout time.Duration
}

// Client sends messages. Safe for concurrent use. One client serves all channels.
type Client struct {
	Clock     clock.Clock
	Guard     *outbound.Guard
	timeout   time.Duration
	transport *sendonce.Transport
}

// New returns a client; Close closes the connections that it keeps.
func New(c clock.Clock, s Settings) *Client {
	if s.Guard == nil {
		s.Guard = outbound.New(outbound.Policy{})
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	return &Client{
		Clock: c, Guard: s.Guard, timeout: s.Timeout,
		transport: sendonce.New(sendonce.Settings{Guard: s.Guard, Roots: s.Roots}),
	}
}

// Close closes unused connections.
func (c *Client) Close() { c.transport.Close() }

// Request is what is sent.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
	// Mask hides the secrets of the channel in results.
	Mask channelconfig.Mask
}

// Answer is what the receiver answered.
type Answer struct {
	Status int
	Header http.Header
	// Body is its beginning, of at most 64 KiB.
	Body []byte
	// TooLong means that there was more.
	TooLong bool
	// RetryAfter is how long the receiver asks not to be called; 0 when it does not say.
	RetryAfter time.Duration
	mask       channelconfig.Mask
}

// Post sends a JSON text. Without an answer the result says why; then ok is false.
func (c *Client) Post(ctx context.Context, r Request) (answer Answer, result alert.SendResult, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return answer, Refused(r.Mask, "config", "the address is not valid"), false
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("User-Agent", "platform-scheduler")
	response, _, err := c.transport.Send(request, nil)
	if err != nil {
		return answer, c.failed(ctx, r.Mask, request.URL.Hostname(), err), false
	}
	defer func() { _ = response.Body.Close() }()
	answer = Answer{
		Status:     response.StatusCode,
		Header:     response.Header,
		RetryAfter: outbound.RetryAfter(response, time.Time{}),
		mask:       r.Mask,
	}
	answer.Body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if len(answer.Body) > maxAnswer {
		answer.Body, answer.TooLong = answer.Body[:maxAnswer], true
	}
	if err != nil {
		return answer, c.failed(ctx, r.Mask, request.URL.Hostname(), fmt.Errorf("read the answer: %w", err)), false
	}
	return answer, alert.SendResult{}, true
}

// failed judges a call without a whole answer.
func (c *Client) failed(ctx context.Context, mask channelconfig.Mask, host string, err error) alert.SendResult {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Failed(mask, "timeout", fmt.Sprintf("%s did not answer within %s", host, c.timeout), 0)
	}
	return Trouble(mask, host, err)
}
