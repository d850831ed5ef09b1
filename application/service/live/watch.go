package live

import (
	"slices"
	"sync"
)

// Watch is one watcher. It keeps what has changed until it is taken: a slow watcher costs
// no more than its topics. Safe for concurrent use.
type Watch struct {
	feed   *Feed
	topics []string
	groups []string
	wake   chan struct{}

	mu      sync.Mutex
	changed map[string]struct{}
	seq     int64
}

// Changed is ready when there is something to take.
func (w *Watch) Changed() <-chan struct{} { return w.wake }

// Take returns the topics that have changed since the last call, sorted, and the number of
// the last look that found one. It returns none when nothing has changed.
func (w *Watch) Take() (topics []string, seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, many := w.changed[Many]; many {
		clear(w.changed)
		return []string{Many}, w.seq
	}
	for topic := range w.changed {
		topics = append(topics, topic)
	}
	clear(w.changed)
	slices.Sort(topics)
	return topics, w.seq
}

// Close ends the watch.
func (w *Watch) Close() { w.feed.leave(w) }

// tell keeps what concerns the watcher.
func (w *Watch) tell(found *changes, seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.changed)
	if found.many {
		w.changed[Many] = struct{}{}
	}
	for _, topic := range w.topics {
		if found.concerns(topic, w.groups) {
			w.changed[topic] = struct{}{}
		}
	}
	if len(w.changed) == 0 {
		return
	}
	if w.seq = seq; before == 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
