package measure

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxBody bounds what is read of a message, in bytes.
	maxBody = 16 << 20
	// tolerance is how far the time of a signature may lie from now.
	tolerance = 5 * time.Minute
	// readBound is how long a message may take to come.
	readBound = 10 * time.Second
	// keyPrefix marks a key in base64.
	keyPrefix = "whsec_"
)

// Receiver takes messages as a program would. Safe for concurrent use.
type Receiver struct {
	// URL is where it listens; each channel adds a name to it.
	URL    string
	now    func() time.Time
	key    []byte
	server *http.Server

	mu sync.Mutex
	// ids are the messages that were taken, and arrivals when each run was first told, by the last
	// part of the path.
	ids      map[string]bool
	messages map[string]int
	arrivals map[string]time.Time
	repeated int
	unsigned int
}

// NewReceiver listens on a free port of this machine.
func NewReceiver(ctx context.Context, now func() time.Time) (*Receiver, error) {
	r := &Receiver{
		now: now, key: make([]byte, 32), ids: map[string]bool{}, messages: map[string]int{},
		arrivals: map[string]time.Time{},
	}
	if _, err := rand.Read(r.key); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for messages: %w", err)
	}
	r.URL = "http://" + l.Addr().String() + "/"
	r.server = &http.Server{Handler: r, ReadTimeout: readBound}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// Secret is the key as the configuration of a channel has it.
func (r *Receiver) Secret() string { return keyPrefix + base64.StdEncoding.EncodeToString(r.key) }

// Close ends the server.
func (r *Receiver) Close() { _ = r.server.Close() }

// message is what is read of a message.
type message struct {
	Alerts []struct {
		ExecutionID string `json:"executionId"`
	} `json:"alerts"`
}

// ServeHTTP takes one message.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	arrival := r.now()
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	var m message
	if err == nil {
		if err = r.verify(q.Header, body, arrival); err != nil {
			r.mu.Lock()
			r.unsigned++
			r.mu.Unlock()
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.take(strings.TrimPrefix(q.URL.Path, "/"), q.Header.Get("Webhook-Id"), m, arrival)
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) take(channel, id string, m message, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[id] {
		r.repeated++
		return
	}
	r.ids[id] = true
	r.messages[channel]++
	for _, a := range m.Alerts {
		key := channel + "/" + a.ExecutionID
		if _, known := r.arrivals[key]; !known {
			r.arrivals[key] = at
		}
	}
}

// verify checks a signature by the rules of Standard Webhooks, without the product's code.
func (r *Receiver) verify(h http.Header, body []byte, now time.Time) error {
	id, at := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if id == "" || err != nil {
		return errors.New("the message has no id or no time")
	}
	if off := now.Sub(time.Unix(seconds, 0)); off.Abs() > tolerance {
		return fmt.Errorf("the message was signed %s ago", off)
	}
	mac := hmac.New(sha256.New, r.key)
	_, _ = mac.Write([]byte(id + "." + at + "."))
	_, _ = mac.Write(body)
	for one := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		text, ok := strings.CutPrefix(one, "v1,")
		sum, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(sum, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("no signature of the message fits")
}

// MessageOf is when a run was first told through a channel.
func (r *Receiver) MessageOf(channel, execution string) (at time.Time, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, yes = r.arrivals[channel+"/"+execution]
	return at, yes
}

// Count is the number of messages of a channel.
func (r *Receiver) Count(channel string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.messages[channel]
}

// Faults are the deliveries that were wrong.
func (r *Receiver) Faults() (repeated, unsigned int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.repeated, r.unsigned
}
