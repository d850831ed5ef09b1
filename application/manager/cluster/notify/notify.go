// Package notify carries the news of one node to the others: that a job was
// changed, that runs wait, that some are to be stopped, that the members
// changed. A hint holds ids only and decides nothing: whoever gets one looks
// into the store, and what is lost a sweep finds later.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Transport carries messages to every node, this one too, at best effort.
type Transport interface {
	Publish(ctx context.Context, message []byte) error
	// Subscribe hands over what arrives until ctx ends. It comes back by itself
	// after an outage. It calls began whenever messages begin to arrive: what was
	// published before, or during an outage, is lost.
	Subscribe(ctx context.Context, began func(), take func(message []byte)) error
}

// Listener is what a node does about the news of others.
type Listener interface {
	// JobsChanged: the definitions or the plans of these jobs are new.
	JobsChanged(ctx context.Context, jobIDs []string) error
	// RunsReady: runs wait that this node may claim, on slots of a kind.
	RunsReady(kind entity.SlotKind)
	// StopAsked: somebody asked these executions to stop.
	StopAsked(ctx context.Context, executionIDs []string) error
	// MembersChanged: a node came, went or changed its state.
	MembersChanged(ctx context.Context) error
	// HintsMissed: hints may have been lost; the node looks at everything once.
	HintsMissed(ctx context.Context) error
}

// message is the news of a moment. It is small: ids beyond maxIDs are left out.
type message struct {
	From string   `json:"from"`
	Jobs []string `json:"jobs,omitempty"`
	Stop []string `json:"stop,omitempty"`
	// Ready: runs wait that any node may take. Nodes: runs wait for these alone;
	// Commands: commands do.
	Ready    bool     `json:"ready,omitempty"`
	Nodes    []string `json:"nodes,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Members  bool     `json:"members,omitempty"`
}

func (m *message) empty() bool {
	return len(m.Jobs) == 0 && len(m.Stop) == 0 && !m.Ready && len(m.Nodes) == 0 && len(m.Commands) == 0 && !m.Members
}

const (
	// maxIDs bounds the ids of one message. A storm of changes is found by the
	// scans anyway.
	maxIDs = 200
	// batchPause is the least time between two messages, in which news are collected:
	// thousands of fires a second must not become as many. What comes after a
	// pause is sent at once.
	batchPause = 5 * time.Millisecond
	// publishBound keeps a slow broker from holding up the next news.
	publishBound = time.Second
	// resubscribe is the pause after a broken subscription.
	resubscribe = time.Second
	// maxMessage is far above what maxIDs of each kind come to. What is longer
	// is no hint, and is not read.
	maxMessage = 64 << 10
)

// Notifier collects the news of this node, sends them, and hands on those of
// others. Safe for concurrent use.
type Notifier struct {
	transport Transport
	listener  Listener
	node      string
	clock     clock.Clock
	logger    *slog.Logger

	mu      sync.Mutex
	next    message
	pending chan struct{}
}

// New returns a hub for a node; nothing is sent before Run.
func New(node string, t Transport, l Listener, c clock.Clock, log *slog.Logger) *Notifier {
	return &Notifier{transport: t, listener: l, node: node, clock: c, logger: log, pending: make(chan struct{}, 1)}
}

// JobChanged tells that a job is new or other than before.
func (h *Notifier) JobChanged(jobID string) {
	h.add(func(m *message) { m.Jobs = appendID(m.Jobs, jobID) })
}

// Notice tells what a transaction of this node did.
func (h *Notifier) Notice(e admission.Effect) {
	if !e.Shared && len(e.Nodes) == 0 && len(e.CommandNodes) == 0 && len(e.Rearmed) == 0 && len(e.Stopping) == 0 {
		return
	}
	h.add(func(m *message) {
		m.Ready = m.Ready || e.Shared
		m.Nodes = appendNew(m.Nodes, e.Nodes)
		m.Commands = appendNew(m.Commands, e.CommandNodes)
		for _, job := range e.Rearmed {
			m.Jobs = appendID(m.Jobs, job.ID)
		}
		for _, row := range e.Stopping {
			m.Stop = appendID(m.Stop, row.ID)
		}
	})
}

// MembersChanged tells that the others should look at the registry.
func (h *Notifier) MembersChanged() { h.add(func(m *message) { m.Members = true }) }

func appendID(ids []string, id string) []string {
	if len(ids) >= maxIDs {
		return ids
	}
	return append(ids, id)
}

// appendNew appends those that are not there yet.
func appendNew(ids, more []string) []string {
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = appendID(ids, id)
		}
	}
	return ids
}

func (h *Notifier) add(change func(m *message)) {
	h.mu.Lock()
	change(&h.next)
	h.mu.Unlock()
	select {
	case h.pending <- struct{}{}:
	default:
	}
}

// Run sends and receives until ctx ends.
func (h *Notifier) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { h.send(ctx) })
	wg.Go(func() { h.receive(ctx) })
	wg.Wait()
	return nil
}

func (h *Notifier) send(ctx context.Context) {
	timer := h.clock.NewTimer(time.Hour)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.pending:
		}
		err := h.flush(ctx)
		if err != nil && !failing {
			h.logger.Warn("hints do not reach the other nodes; they will find the news by themselves, later", "error", err)
		}
		if err == nil && failing {
			h.logger.Info("hints reach the other nodes again")
		}
		failing = err != nil
		timer.Reset(batchPause)
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
	}
}

func (h *Notifier) flush(ctx context.Context) error {
	h.mu.Lock()
	m := h.next
	h.next = message{}
	h.mu.Unlock()
	if m.empty() {
		return nil
	}
	m.From = h.node
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, publishBound)
	defer cancel()
	return h.transport.Publish(bounded, body)
}

func (h *Notifier) receive(ctx context.Context) {
	timer := h.clock.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		err := h.transport.Subscribe(ctx, func() { h.catchUp(ctx) }, func(body []byte) { h.take(ctx, body) })
		if err != nil && ctx.Err() == nil {
			h.logger.Debug("the subscription to hints broke", "error", err)
		}
		timer.Reset(resubscribe)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
	}
}

// catchUp makes up for the hints of the time without a subscription.
func (h *Notifier) catchUp(ctx context.Context) {
	if err := h.listener.HintsMissed(ctx); err != nil {
		h.logger.Debug("the node could not look for missed hints", "error", err)
	}
}

// take acts on the news of another node. What cannot be read is dropped: it
// may come from another release.
func (h *Notifier) take(ctx context.Context, body []byte) {
	var m message
	if len(body) > maxMessage {
		return
	}
	if err := json.Unmarshal(body, &m); err != nil || m.From == h.node {
		return
	}
	if m.Ready || slices.Contains(m.Nodes, h.node) {
		h.listener.RunsReady(entity.SlotGeneral)
	}
	if slices.Contains(m.Commands, h.node) {
		h.listener.RunsReady(entity.SlotCommand)
	}
	for _, act := range []func() error{
		func() error {
			return some(m.Jobs, func(ids []string) error { return h.listener.JobsChanged(ctx, ids) })
		},
		func() error { return some(m.Stop, func(ids []string) error { return h.listener.StopAsked(ctx, ids) }) },
		func() error {
			if !m.Members {
				return nil
			}
			return h.listener.MembersChanged(ctx)
		},
	} {
		if err := act(); err != nil {
			h.logger.Debug("a hint could not be followed", "error", err)
		}
	}
}

// some acts on ids if there are any, at most maxIDs of them.
func some(ids []string, act func(ids []string) error) error {
	if len(ids) == 0 {
		return nil
	}
	return act(ids[:min(len(ids), maxIDs)])
}
