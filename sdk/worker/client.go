package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const (
	// maxAnswer bounds what is read of an answer; the servers send 1 MiB of runs at most.
	maxAnswer = 4 << 20
	// callWait is how long a call may take beyond the wait that it asks for.
	callWait = 5 * time.Second
	// reportWait is how long a report and the like may take; a server answers within two seconds and a bit.
	reportWait = 10 * time.Second
	// stay is how long a worker stays with one server. Then it chooses anew, so that load evens out.
	stay = 10 * time.Minute
	// firstPause and lastPause bound the pauses between calls while no server answers.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	maxToken   = 4 << 10
)

// client calls one of the servers. It is safe for concurrent use.
type client struct {
	http    *http.Client
	clock   clock.Clock
	servers []string
	// file is where the token comes from; empty where it was given.
	file string

	mu     sync.Mutex
	token  string
	at     int
	chosen time.Duration
	// failed counts calls in a row that no server answered well.
	failed int
}

func newClient(o Options, c clock.Clock) (*client, error) {
	config, err := o.tlsConfig()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: callWait, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: maxPolls + 2,
		ForceAttemptHTTP2:   true,
	}
	out := &client{
		http: &http.Client{
			Transport: transport,
			// The token goes to the servers that were named, and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		clock: c, servers: o.Servers, file: o.TokenFile, token: o.Token,
	}
	out.choose()
	if o.TokenFile != "" {
		if _, err := out.readToken(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readToken reads the token file and reports whether the token is another one now.
func (c *client) readToken() (changed bool, err error) {
	if c.file == "" {
		return false, nil
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return false, fmt.Errorf("read TokenFile: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || len(token) > maxToken || strings.ContainsAny(token, " \r\n") {
		return false, fmt.Errorf("TokenFile %s does not hold a token", c.file)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed = token != c.token
	c.token = token
	return changed, nil
}

// choose picks the server to call from now on.
func (c *client) choose() {
	c.at, c.chosen = rand.IntN(len(c.servers)), c.clock.Monotonic() //nolint:gosec // it only spreads load
}

// current is the server to call now, and the token for it.
func (c *client) current() (server int, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.Monotonic()-c.chosen >= stay {
		c.choose()
	}
	return c.at, c.token
}

// leaveServer makes the next call go to another server than this one, which failed.
func (c *client) leaveServer(server int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
	if c.at == server {
		c.at, c.chosen = (server+1)%len(c.servers), c.clock.Monotonic()
	}
}

// pause is how long to wait before the next call: not at all while there are servers that were not tried.
func (c *client) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	rounds := c.failed / len(c.servers)
	if rounds == 0 {
		return 0
	}
	most := min(firstPause<<min(rounds, 10), lastPause)
	return most/2 + time.Duration(rand.Int64N(int64(most/2))) //nolint:gosec // it only spreads load
}

// call sends a call to the current server. The answer, or the problem that it is, names the server. One that did not
// answer, or not well, is left; the next call goes to another one.
func (c *client) call(ctx context.Context, wait time.Duration, path string, body, answer any) error {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	server, token := c.current()
	err := c.send(limited, c.servers[server], token, path, body, answer)
	var p *problem
	switch {
	case ctx.Err() != nil: // nobody waits for it any more, which is not the server's fault
	case err == nil:
		c.mu.Lock()
		c.failed = 0
		c.mu.Unlock()
	case !errors.As(err, &p), p.status < 400, p.status >= 500, p.status == http.StatusNotFound,
		p.status == http.StatusTooManyRequests, p.unauthorized():
		c.leaveServer(server)
	}
	return err
}

func (c *client) send(ctx context.Context, server, token, path string, body, answer any) error {
	payload, err := encode(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+path, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("make a call to %s: %w", server, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "platform-scheduler-worker/"+sdkName)
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("call a server: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", server, err)
	case len(text) > maxAnswer:
		return fmt.Errorf("the answer of %s is longer than %d bytes", server, maxAnswer)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return problemOf(resp, server, text)
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", server, err)
	}
	return nil
}

func problemOf(resp *http.Response, server string, text []byte) error {
	p := &problem{}
	if json.Unmarshal(text, p) != nil {
		p = &problem{} // a proxy's page, say
	}
	p.status, p.server = resp.StatusCode, server
	if p.status >= 300 && p.status < 400 {
		p.Detail = "it redirects, and the token goes to no other address: name the server itself"
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		p.retryAfter = time.Duration(min(s, 60)) * time.Second
	}
	return p
}

// encode keeps texts as they are, where the standard library's default would escape HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a call: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unauthorized: the token is not, or not any more, that of a worker of this group.
func (p *problem) unauthorized() bool {
	return p.status == http.StatusUnauthorized || p.status == http.StatusForbidden
}

// is reports whether an error is the answer with that code.
func is(err error, code string) bool {
	var p *problem
	return errors.As(err, &p) && p.Code == code
}

func unauthorized(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.unauthorized()
}
