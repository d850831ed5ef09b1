// Package client speaks the REST API on behalf of a person at a shell.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
)

// callTimeout bounds a call that is no stream.
const callTimeout = 60 * time.Second

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// Client calls one server with one token. It is safe for concurrent use.
type Client struct {
	// Server is the address without /api/v1.
	Server string
	Token  string
	// HTTP makes the calls; nil is the standard library's way. Its redirects are not followed.
	HTTP *http.Client
}

// Problem is an answer that is no success.
type Problem problem.Problem

// Error implements error: the detail, and a line for each wrong field.
func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, fmt.Sprintf("the server answers %d %s", p.Status, p.Title))
	for _, e := range p.Errors {
		text += "\n  " + e.Field + ": " + e.Message
	}
	return text
}

// Transient reports whether a failed call may succeed a moment later. The server is starting,
// unreachable or overloaded, or the connection was cut.
func Transient(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		return slices.Contains([]int{
			http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		}, p.Status)
	}
	var untrusted *tls.CertificateVerificationError
	var cut net.Error
	return !errors.As(err, &untrusted) && (errors.As(err, &cut) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF))
}

// IsStatus reports whether err is a Problem with that status.
func IsStatus(err error, status int) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == status
}

// Call sends body, unless it is nil, as JSON to a path below /api/v1 and reads
// the answer into answer, unless that is nil.
func (c *Client) Call(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.send(ctx, method, path, query, body, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.Server, err)
	}
	if answer == nil || len(data) == 0 {
		return nil
	}
	if raw, ok := answer.(*json.RawMessage); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("the answer of %s is no JSON that is understood: %w", c.Server, err)
	}
	return nil
}

// Stream opens a stream of events; the caller closes it.
func (c *Client) Stream(ctx context.Context, path, lastEventID string) (io.ReadCloser, error) {
	response, err := c.send(ctx, http.MethodGet, path, nil, nil, lastEventID)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// send sends a request; an answer that is no success becomes a *Problem. It
// follows no redirect: a password or a token is for the server that was named.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any, lastEventID string,
) (*http.Response, error) {
	address := strings.TrimRight(c.Server, "/") + "/api/v1" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var content io.Reader
	header := http.Header{}
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
		header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	if lastEventID != "" {
		header.Set("Last-Event-ID", lastEventID)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, fmt.Errorf("%q is not the address of a server: %w", c.Server, err)
	}
	request.Header = header
	client := *cmp.Or(c.HTTP, &http.Client{})
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, fmt.Errorf("call %s: %w", c.Server, err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer response.Body.Close()
	if to := response.Header.Get("Location"); response.StatusCode < http.StatusBadRequest {
		return nil, fmt.Errorf("%s answers with a redirect to %q, which is not followed; name the server by its own address",
			c.Server, to)
	}
	p := &Problem{}
	data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if json.Unmarshal(data, p) != nil || p.Status == 0 {
		p = &Problem{Title: http.StatusText(response.StatusCode)}
	}
	p.Status = response.StatusCode
	return nil, p
}

// Trusting makes an HTTP client that trusts the certificates of a file in PEM besides those of the machine.
func Trusting(file string) (*http.Client, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust (--ca-file): %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without any
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM (--ca-file)", file)
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport}, nil
}
