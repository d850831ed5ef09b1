package peering

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Client asks other nodes. Safe for concurrent use.
type Client struct {
	key    []byte
	now    func() time.Time
	scheme string
	http   *http.Client
}

// NewClient returns a client that signs with the key; now is the store's time. secure means
// that the nodes use TLS. The client keeps one connection to each node.
func NewClient(key []byte, now func() time.Time, secure bool) *Client {
	c := &Client{key: key, now: now, scheme: "http"}
	if secure {
		c.scheme = "https"
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: time.Second}).DialContext,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: time.Second, DisableCompression: true,
			// Nodes are reached by their addresses, which certificates do not name. The signature
			// proves the answer, and the answer holds no secret.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // see above
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Close closes the kept connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ask implements membership.Peers.
func (c *Client) Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (a entity.PeerAnswer, err error) {
	if len(c.key) == 0 {
		return a, errSignature
	}
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	now := c.now()
	answer, err := c.send(ctx, n, Prefix+string(q.Matter), body, &now)
	if err != nil && ctx.Err() == nil && !errors.Is(err, entity.ErrNobodyListens) {
		// The other side may have closed a kept connection: a new one shows whether it answers. Or it
		// goes by another time, which it has told.
		answer, err = c.send(ctx, n, Prefix+string(q.Matter), body, &now)
	}
	if err != nil {
		return a, fmt.Errorf("ask the node %s: %w", n.ID, err)
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return a, fmt.Errorf("read the answer of the node %s: %w", n.ID, err)
	}
	return a, nil
}

// send asks once, with a new nonce, and signs at the time now. Where the other node goes by another
// time, the error is errTime, and now is that time from then on.
func (c *Client) send(ctx context.Context, n entity.Node, path string, body []byte, now *time.Time) ([]byte, error) {
	mark := stamp{at: *now, nonce: rand.Text()}
	mark.code = code(c.key, "question", path, mark.String(), string(body))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		c.scheme+"://"+net.JoinHostPort(n.IP, strconv.Itoa(n.Port))+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // a question is sent once: its nonce counts once
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(signature, mark.String())
	response, err := c.http.Do(request)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, entity.ErrNobodyListens
		}
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusUnauthorized && c.learns(response.Header.Get(signature), mark, now):
		return nil, errTime
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answers %s", response.Status)
	case !same(response.Header.Get(signature), code(c.key, "answer", mark.nonce, mark.code, string(answer))):
		return nil, errSignature
	}
	return answer, nil
}

// learns reports that an answer tells the other node's time, and sets now to it.
func (c *Client) learns(header string, question stamp, now *time.Time) bool {
	told, ok := parseStamp(header)
	if !ok || !same(told.code, otherTime(c.key, question, told.at).code) {
		return false
	}
	*now = told.at
	return true
}
