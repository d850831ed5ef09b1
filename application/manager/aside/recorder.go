// Package aside reports rows that the store refuses while everything else goes on. It logs and counts them, and names
// them among the troubles of the node for an hour. The rows themselves are in the store (repository.Asides).
package aside

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// troubleFor is how long a row that was set aside counts as a trouble of the node, after the latest time.
	troubleFor = time.Hour
	// most bounds what a Recorder remembers. It logs further rows each time; they are in the store.
	most = 1000
)

// Recorder remembers what this node has set aside. A nil Recorder remembers nothing. Safe for concurrent use.
type Recorder struct {
	// Blame is for the batches of the callers that set rows aside; see batch.Walk.
	Blame *batch.Blame

	clock clock.Clock
	log   *slog.Logger
	count func(kind string)

	mu   sync.Mutex
	seen map[key]time.Duration
}

type key struct {
	kind entity.AsideKind
	id   string
}

// NewRecorder returns one that remembers nothing. beating: see batch.NewBlame. count is called each time; nil is
// nobody.
func NewRecorder(c clock.Clock, beating func() bool, count func(kind string), l *slog.Logger) *Recorder {
	return &Recorder{Blame: batch.NewBlame(c, beating), clock: c, log: l, count: count, seen: map[key]time.Duration{}}
}

// Blames is the Blame of a Recorder, nil of a nil one.
func (b *Recorder) Blames() *batch.Blame {
	if b == nil {
		return nil
	}
	return b.Blame
}

// Note reports a row that was set aside.
func (b *Recorder) Note(a entity.SetAside) {
	if b == nil {
		return
	}
	if b.count != nil {
		b.count(string(a.Kind))
	}
	if b.first(key{a.Kind, a.ID}) {
		b.log.Error("the store refuses something; it is set aside, and everything else goes on", "kind", a.Kind, "id", a.ID,
			"job", a.Job, "rule", a.Rule, "state", a.State, "reason", a.Reason)
	}
}

// Reduced reports an alert that was raised without labels of people, without details and with a shorter text.
func (b *Recorder) Reduced(kind entity.AsideKind, id string, err error) {
	if b != nil && b.first(key{"reduced " + kind, id}) {
		b.log.Warn("the store refuses an alert; it is raised without labels and details", "kind", kind, "id", id,
			"error", err)
	}
}

// first remembers a row, and reports whether it is new.
func (b *Recorder) first(k key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Monotonic()
	maps.DeleteFunc(b.seen, func(_ key, at time.Duration) bool { return now-at > troubleFor })
	_, known := b.seen[k]
	if known || len(b.seen) < most {
		b.seen[k] = now
	}
	return !known
}

// Trouble says what this node set aside within the last hour, for people; empty: nothing.
func (b *Recorder) Trouble() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[string]int{}
	for k, at := range b.seen {
		if b.clock.Monotonic()-at <= troubleFor {
			counts[strings.ToLower(string(k.kind))]++
		}
	}
	if len(counts) == 0 {
		return ""
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", kind, counts[kind]))
	}
	return "the store refuses what people should know of, and everything else goes on (" + strings.Join(parts, ", ") +
		"); GET /api/v1/monitor/set-aside lists it"
}
