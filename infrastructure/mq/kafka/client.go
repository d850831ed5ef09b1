// Package kafka carries events to Apache Kafka, for other systems, and wakes this one by
// what arrives there. No part of the product depends on it for correctness: what must not
// be lost waits in the outbox of the store.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// The time-outs of calls. A broker that is frozen holds up a call for three tries.
const (
	dialTimeout = 2 * time.Second
	ioTimeout   = 5 * time.Second
	idleTimeout = 30 * time.Second
	// metadataAge is how old the list of topics and leaders may be.
	metadataAge = 2 * time.Second
	// closeBound is how long a stop waits for messages in flight.
	closeBound = 2 * time.Second
)

// Client is the way to the brokers. Safe for concurrent use.
type Client struct {
	cfg       config.Kafka
	node      string
	dialer    *kafkago.Dialer
	transport *kafkago.Transport
	clock     clock.Clock
	logger    *slog.Logger

	relay, copies *sender

	mu     sync.Mutex
	report *faillog.Recorder
	// away is why the brokers did not take the last events, or did not answer.
	away error
	// topics is what is wrong with the topics; checked tells whether anybody has looked.
	topics  error
	checked bool
	// dropped is when events were dropped last, in monotonic time; 0 is never.
	dropped time.Duration
}

// Open makes the client; it connects when it is first used. node is the id of this node,
// which its messages carry.
func Open(cfg config.Kafka, node string, c clock.Clock, l *slog.Logger) (*Client, error) {
	dialer, err := dialerOf(cfg)
	if err != nil {
		return nil, err
	}
	k := &Client{
		cfg: cfg, node: node, clock: c, logger: l, dialer: dialer,
		transport: &kafkago.Transport{
			DialTimeout: dialTimeout, IdleTimeout: idleTimeout, MetadataTTL: metadataAge, ClientID: dialer.ClientID,
			TLS: dialer.TLS, SASL: dialer.SASLMechanism,
		},
		report: faillog.New(c, l, faillog.Texts{
			Fails: "events do not reach Kafka; they wait in the outbox, and alerts do not depend on them",
			Works: "events reach Kafka again",
		}),
	}
	k.relay, k.copies = k.newSender(relayAttempts), k.newSender(copyAttempts)
	return k, nil
}

func dialerOf(cfg config.Kafka) (*kafkago.Dialer, error) {
	d := &kafkago.Dialer{ClientID: "platform-scheduler", Timeout: dialTimeout, DualStack: true}
	if cfg.TLS {
		d.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if cfg.SASL.Mechanism == "" {
		return d, nil
	}
	mechanism, err := mechanismOf(cfg.SASL)
	d.SASLMechanism = mechanism
	return d, err
}

func mechanismOf(s config.SASL) (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: s.Username, Password: s.Password}, nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, s.Username, s.Password)
	}
	return nil, fmt.Errorf("kafka.sasl.mechanism is %q; it must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
}

// dial connects to the first broker that answers.
func (k *Client) dial(ctx context.Context) (*kafkago.Conn, error) {
	var failures []error
	for _, broker := range k.cfg.Brokers {
		conn, err := k.dialer.DialContext(ctx, "tcp", broker)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", broker, err))
	}
	return nil, errors.Join(failures...)
}

// noteAway takes whether the brokers answered.
func (k *Client) noteAway(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.away = err
	k.report.Observe(err)
}

// serves reports whether the brokers answered when they were last asked, and have the topics that they may have.
func (k *Client) serves() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.checked && k.away == nil
}

// dropShown is how long dropped events are shown.
const dropShown = 10 * time.Minute

// NoteDropped takes how many events were dropped because too many waited.
func (k *Client) NoteDropped(events int) {
	if events == 0 {
		return
	}
	k.logger.Warn("too many events wait for Kafka; the oldest were dropped", "events", events)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropped = k.clock.Monotonic()
}

// Trouble says what keeps events from Kafka, or nothing. It never blocks the node.
func (k *Client) Trouble() (reason string, blocks bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var parts []string
	if k.away != nil {
		parts = append(parts, fmt.Sprintf("events do not reach Kafka and wait in the outbox (%s)",
			strings.ReplaceAll(k.away.Error(), "\n", "; ")))
	}
	if k.topics != nil {
		parts = append(parts, k.topics.Error())
	}
	if k.dropped != 0 && k.clock.Monotonic()-k.dropped < dropShown {
		parts = append(parts, "too many events waited for Kafka, and the oldest were dropped")
	}
	return strings.Join(parts, "; "), false
}

// Close ends the client. Messages in flight may be sent or not.
func (k *Client) Close() error {
	done := make(chan error, 1)
	go func() {
		err := errors.Join(k.relay.writer.Close(), k.copies.writer.Close())
		k.transport.CloseIdleConnections()
		done <- err
	}()
	bound := k.clock.NewTimer(closeBound)
	defer bound.Stop()
	select {
	case err := <-done:
		return err
	case <-bound.C():
		return nil // the brokers hang; the outbox holds what they did not take
	}
}
