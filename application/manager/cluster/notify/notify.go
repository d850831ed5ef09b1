// Package notify sends notifications from one node to the others: a job changed, runs wait,
// runs shall stop, the members changed. A notification holds only ids and decides nothing: the
// receiver reads the store. Sweeps later find what a lost one announced.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// Transport carries messages to all nodes, this one included, at best effort.
type Transport interface {
	Publish(ctx context.Context, message []byte) error
	// Subscribe passes on what arrives until ctx ends. It recovers from an outage by
	// itself. It calls began whenever messages begin to arrive: what was published
	// before, or during an outage, is lost.
	Subscribe(ctx context.Context, began func(), take func(message []byte)) error
}

// Listener acts on the notifications of other nodes.
type Listener interface {
	// JobsChanged means that the definitions or plans of these jobs changed.
	JobsChanged(ctx context.Context, jobIDs []string) error
	// RunsReady means that this node may claim waiting runs for slots of a kind.
	RunsReady(kind entity.SlotKind)
	// WorkersWanted means that runs wait for workers of these groups.
	WorkersWanted(groups []string)
	// StopAsked means that a caller asked these executions to stop.
	StopAsked(ctx context.Context, executionIDs []string) error
	// MembersChanged means that a node joined, left or changed its status.
	MembersChanged(ctx context.Context) error
	// EventsAdded means that the outbox holds new events.
	EventsAdded()
	// MessagesPlanned means that messages about alerts are to be sent.
	MessagesPlanned()
	// NotificationsMissed means that notifications may be lost; the node checks everything once.
	NotificationsMissed(ctx context.Context) error
}

// message holds the notifications of a moment. It is small: it leaves out ids beyond maxIDs.
type message struct {
	From string   `json:"from"`
	Jobs []string `json:"jobs,omitempty"`
	Stop []string `json:"stop,omitempty"`
	// Ready means that runs wait for any node. Nodes are nodes for which runs wait, and
	// Commands are nodes for which commands wait.
	Ready    bool     `json:"ready,omitempty"`
	Nodes    []string `json:"nodes,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Workers are the worker groups for which runs wait.
	Workers  []string `json:"workers,omitempty"`
	Members  bool     `json:"members,omitempty"`
	Events   bool     `json:"events,omitempty"`
	Messages bool     `json:"messages,omitempty"`
}

func (m *message) empty() bool {
	return len(m.Jobs) == 0 && len(m.Stop) == 0 && !m.Ready && len(m.Nodes) == 0 && len(m.Commands) == 0 &&
		len(m.Workers) == 0 && !m.Members && !m.Events && !m.Messages
}

const (
	// maxIDs bounds the ids of one message. Scans find the rest of many changes.
	maxIDs = 200
	// batchPause is the least time between two messages, in which news are collected:
	// thousands of fires a second must not become as many. A notification after a
	// pause is sent at once.
	batchPause = 5 * time.Millisecond
	// publishBound keeps a slow broker from delaying the next message.
	publishBound = time.Second
	// resubscribe is the pause after a broken subscription.
	resubscribe = time.Second
	// maxMessage is far more than maxIDs of each kind need. The node ignores longer
	// messages.
	maxMessage = 64 << 10
)

// Notifier collects the notifications of this node and sends them, and passes on the notifications of
// other nodes. Safe for concurrent use.
type Notifier struct {
	transport Transport
	node      string
	clock     clock.Clock
	logger    *slog.Logger

	mu      sync.Mutex
	next    message
	pending chan struct{}
}

// New returns the notifier of a node; it sends nothing before Run.
func New(node string, t Transport, c clock.Clock, log *slog.Logger) *Notifier {
	return &Notifier{transport: t, node: node, clock: c, logger: log, pending: make(chan struct{}, 1)}
}

// JobChanged announces that a job is new or changed.
func (h *Notifier) JobChanged(jobID string) {
	h.add(func(m *message) { m.Jobs = appendID(m.Jobs, jobID) })
}

// AfterCommit tells what a transaction of this node did.
func (h *Notifier) AfterCommit(e commit.PostCommit) {
	if !e.Shared && len(e.Nodes) == 0 && len(e.CommandNodes) == 0 && len(e.Workers) == 0 && len(e.Rearmed) == 0 &&
		len(e.Stopping) == 0 {
		return
	}
	h.add(func(m *message) {
		m.Ready = m.Ready || e.Shared
		m.Nodes = appendNew(m.Nodes, e.Nodes)
		m.Commands = appendNew(m.Commands, e.CommandNodes)
		m.Workers = appendNew(m.Workers, e.Workers)
		for _, job := range e.Rearmed {
			m.Jobs = appendID(m.Jobs, job.ID)
		}
		for _, exec := range e.Stopping {
			m.Stop = appendID(m.Stop, exec.ID)
		}
	})
}

// MembersChanged asks the other nodes to read the registry.
func (h *Notifier) MembersChanged() { h.add(func(m *message) { m.Members = true }) }

// EventsAdded wakes who reads the outbox.
func (h *Notifier) EventsAdded() { h.add(func(m *message) { m.Events = true }) }

// MessagesPlanned wakes who sends messages about alerts.
func (h *Notifier) MessagesPlanned() { h.add(func(m *message) { m.Messages = true }) }

func appendID(ids []string, id string) []string {
	if len(ids) >= maxIDs {
		return ids
	}
	return append(ids, id)
}

// appendNew appends the ids that are not in the list yet.
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

// Run sends notifications, and passes arriving ones on to the listener, until ctx ends.
func (h *Notifier) Run(ctx context.Context, l Listener) error {
	var wg sync.WaitGroup
	wg.Go(func() { h.send(ctx) })
	wg.Go(func() { h.receive(ctx, l) })
	wg.Wait()
	return nil
}

func (h *Notifier) send(ctx context.Context) {
	timer := h.clock.NewTimer(time.Hour)
	defer timer.Stop()
	arrive := faillog.New(h.clock, h.logger, faillog.Texts{
		Fails: "notifications do not reach the other nodes; they find the changes later, by their scans",
		Works: "notifications reach the other nodes again",
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.pending:
		}
		arrive.Observe(h.flush(ctx))
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

func (h *Notifier) receive(ctx context.Context, l Listener) {
	timer := h.clock.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		err := h.transport.Subscribe(ctx, func() { h.catchUp(ctx, l) }, func(body []byte) { h.take(ctx, l, body) })
		if err != nil && ctx.Err() == nil {
			h.logger.Debug("the subscription to notifications broke", "error", err)
		}
		timer.Reset(resubscribe)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
	}
}

// catchUp replaces the notifications of the time without a subscription.
func (h *Notifier) catchUp(ctx context.Context, l Listener) {
	if err := l.NotificationsMissed(ctx); err != nil {
		h.logger.Debug("the node could not check for missed notifications", "error", err)
	}
}

// take acts on a message of another node. It drops what it cannot read: another
// release may have sent it.
func (h *Notifier) take(ctx context.Context, l Listener, body []byte) {
	var m message
	if len(body) > maxMessage {
		return
	}
	if err := json.Unmarshal(body, &m); err != nil || m.From == h.node {
		return
	}
	if m.Ready || slices.Contains(m.Nodes, h.node) {
		l.RunsReady(entity.SlotGeneral)
	}
	if slices.Contains(m.Commands, h.node) {
		l.RunsReady(entity.SlotCommand)
	}
	if len(m.Workers) > 0 {
		l.WorkersWanted(m.Workers[:min(len(m.Workers), maxIDs)])
	}
	if m.Events {
		l.EventsAdded()
	}
	if m.Messages {
		l.MessagesPlanned()
	}
	for _, act := range []func() error{
		func() error {
			return some(m.Jobs, func(ids []string) error { return l.JobsChanged(ctx, ids) })
		},
		func() error { return some(m.Stop, func(ids []string) error { return l.StopAsked(ctx, ids) }) },
		func() error {
			if !m.Members {
				return nil
			}
			return l.MembersChanged(ctx)
		},
	} {
		if err := act(); err != nil {
			h.logger.Debug("the node could not act on a notification", "error", err)
		}
	}
}

// some calls act with at most maxIDs ids, and not at all without ids.
func some(ids []string, act func(ids []string) error) error {
	if len(ids) == 0 {
		return nil
	}
	return act(ids[:min(len(ids), maxIDs)])
}
