// Package live tells those who watch a node which objects have changed, never how. While
// somebody watches, one loop of the node reads once a second what is new in the store.
package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// The topics of lists. The topics of one object are JobPrefix, ExecutionPrefix and RunPrefix with its id.
const (
	Jobs       = "jobs"
	Executions = "executions"
	Alerts     = "alerts"
	Nodes      = "nodes"
	Approvals  = "approvals"
	// Many stands for all topics: too much has changed, or the store was away meanwhile.
	Many = "many"

	JobPrefix       = "job:"
	ExecutionPrefix = "execution:"
	// RunPrefix is of workflow runs.
	RunPrefix = "workflow-run:"
)

const (
	// lookEvery is the time between two looks at the store.
	lookEvery = time.Second
	// lookBack is how far a look reads back: clocks differ, and transactions take their time.
	lookBack = 5 * time.Second
	// maxChanged is how many ids a look may find before it tells of Many.
	maxChanged = 1000
	// lookTime bounds a look.
	lookTime = 5 * time.Second
	// knownGroups bounds how many jobs' groups are kept.
	knownGroups = 100_000
)

// Deps are the parts of a Feed.
type Deps struct {
	Changes repository.Changes
	Audit   repository.Audit
	Alerts  interface {
		HeldAlerts(ctx context.Context, after string, limit int) ([]*alert.Alert, error)
	}
	// Nodes are the nodes as this one sees them.
	Nodes func() []entity.Node
	// Clock is the store's, Machine the machine's.
	Clock   clock.StoreClock
	Machine clock.Clock
	Logger  *slog.Logger
}

// Feed tells watchers which objects have changed. Its loop runs while somebody watches.
// Safe for concurrent use.
type Feed struct {
	Deps

	mu       sync.Mutex
	watchers map[*Watch]struct{}
	// recent are jobs that this node has changed since the last look.
	recent map[string]string
	// stop ends the loop; nil while it does not run.
	stop context.CancelFunc
	seq  int64
	// changedAt is the last look that found a change of a list, by topic.
	changedAt map[string]int64
	seen      *looked
}

// NewFeed wires the parts; nothing runs yet.
func NewFeed(d Deps) *Feed {
	return &Feed{Deps: d, watchers: map[*Watch]struct{}{}, recent: map[string]string{}, changedAt: map[string]int64{}}
}

// Watch begins to watch topics. groups are those whose objects the watcher may see; nil
// is all. The caller has checked that the watcher may see the objects that topics name.
// Close must be called.
func (f *Feed) Watch(topics, groups []string) *Watch {
	w := &Watch{feed: f, topics: topics, groups: groups, wake: make(chan struct{}, 1), changed: map[string]struct{}{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers[w] = struct{}{}
	if f.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		f.stop, f.seen = stop, newLooked()
		go f.run(ctx)
	}
	return w
}

// Watching is how many watch.
func (f *Feed) Watching() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers)
}

// LastChange is the number of the last look that found a change of one of these lists. Data from before that look may
// lack a change that watchers have heard of.
func (f *Feed) LastChange(topics ...string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.changedAt[Many]
	for _, topic := range topics {
		last = max(last, f.changedAt[topic])
	}
	return last
}

// JobChanged hints that this node has changed a job. It does not wait.
func (f *Feed) JobChanged(job *entity.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil && len(f.recent) <= maxChanged {
		f.recent[job.ID] = job.Group
	}
}

// leave forgets a watcher, and ends the loop with the last one.
func (f *Feed) leave(w *Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers, w)
	if len(f.watchers) == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
		clear(f.recent)
	}
}

// run looks once a second until nobody watches.
func (f *Feed) run(ctx context.Context) {
	f.mu.Lock()
	seen := f.seen
	f.mu.Unlock()
	failures := faillog.New(f.Machine, f.Logger, faillog.Texts{
		Fails: "the store does not tell what has changed: who watches learns of it later",
		Works: "the store tells again what has changed",
	})
	missed, pace := false, newPace()
	for clock.Sleep(ctx, f.Machine, lookEvery) == nil {
		found, err := f.look(ctx, seen)
		if ctx.Err() != nil {
			return
		}
		failures.Observe(err)
		if err != nil {
			missed = true
			continue
		}
		found.many, missed = found.many || missed, false
		pace.of(found)
		f.tell(found)
	}
}

// tell passes on what was found to those whom it concerns.
func (f *Feed) tell(found *changes) {
	if found.empty() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	for topic := range found.lists {
		f.changedAt[topic] = f.seq
	}
	if found.many {
		f.changedAt[Many] = f.seq
	}
	for w := range f.watchers {
		w.tell(found, f.seq)
	}
}
