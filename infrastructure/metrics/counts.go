package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// countLimit bounds the count of a queue; a longer queue shows this number.
	countLimit = 100_000
	// countTimeout bounds one reading, and scrapeTimeout a whole scrape.
	countTimeout  = 2 * time.Second
	scrapeTimeout = 10 * time.Second
	// countAge is how old counts may be at a scrape: many scrapes cost the store no more than one.
	countAge = 20 * time.Second
)

// counted is one reading of the store. A figure that could not be counted is left out.
type counted struct {
	depth      map[string]int
	missing    map[entity.Wait]int
	letters    int
	hasLetters bool
	backlog
}

// backlog is what waits for the tasks of the leader; what is nil could not be counted.
type backlog struct {
	events map[string]int
	alerts map[AlertState]int
	// oldest is zero where every end is in the statistics.
	oldest  time.Time
	hasFold bool
}

// counts reads what the store counts, and keeps it for a while. Safe for concurrent use.
type counts struct {
	queue   Queue
	backlog Backlog
	clock   clock.Clock

	// turn is held by the one that reads, and guards what was read.
	turn sync.Mutex
	at   time.Duration
	led  bool
	last *counted
}

func newCounts(q Queue, b Backlog, c clock.Clock) *counts {
	return &counts{queue: q, backlog: b, clock: c}
}

// read returns counts that are not older than age. Only a leader counts dead letters and backlogs.
func (c *counts) read(ctx context.Context, age time.Duration, leads bool) counted {
	c.turn.Lock()
	defer c.turn.Unlock()
	now := c.clock.Monotonic()
	if c.last == nil || now-c.at >= age || leads && !c.led {
		found := c.count(ctx, leads)
		c.at, c.led, c.last = now, leads, &found
	}
	return *c.last
}

func (c *counts) count(ctx context.Context, leads bool) counted {
	found := counted{depth: map[string]int{}}
	for _, part := range [...]struct {
		state string
		span  entity.ClaimSpan
	}{
		{"ready", entity.ReadySpan()},
		{"unplaced", entity.UnroutableSpan()},
		{"parked", entity.ScheduledSpan()},
		{"grouped", entity.GroupedSpan()},
		{"queued", entity.QueuedSpan()},
		{"detached", entity.DetachedSpan()},
	} {
		n, err := c.span(ctx, part.span)
		if err != nil {
			continue
		}
		found.depth[part.state] = n
		if part.state == "unplaced" {
			found.missing = c.missing(ctx, n)
		}
	}
	if leads {
		n, _, err := c.queue.CountLetters(ctx, nil, countLimit)
		found.letters, found.hasLetters = n, err == nil
		found.backlog = c.waiting(ctx)
	}
	return found
}

// waiting counts what waits for the tasks of the leader.
func (c *counts) waiting(ctx context.Context) (found backlog) {
	if events, err := c.backlog.Events(ctx, countLimit); err == nil {
		found.events = events
	}
	if alerts, err := c.backlog.Alerts(ctx, countLimit); err == nil {
		found.alerts = alerts
	}
	oldest, some, err := c.backlog.OldestEnd(ctx)
	if found.hasFold = err == nil; some {
		found.oldest = oldest
	}
	return found
}

func (c *counts) span(ctx context.Context, s entity.ClaimSpan) (int, error) {
	return c.queue.CountRange(ctx, repository.ClaimRange{Lo: s.Lo, Hi: s.Hi, Limit: countLimit})
}

// missing splits the executions that no node can take by what the nodes lack. Without such executions it does not ask
// the store.
func (c *counts) missing(ctx context.Context, unplaced int) map[entity.Wait]int {
	out := map[entity.Wait]int{
		entity.WaitNode: unplaced, entity.WaitCommand: 0, entity.WaitHandler: 0, entity.WaitWorker: 0,
	}
	if unplaced == 0 {
		return out
	}
	for _, wait := range []entity.Wait{entity.WaitCommand, entity.WaitHandler, entity.WaitWorker} {
		for _, s := range wait.Spans() {
			n, err := c.span(ctx, s)
			if err != nil {
				return nil
			}
			out[wait] += n
			out[entity.WaitNode] = max(out[entity.WaitNode]-n, 0)
		}
	}
	return out
}

// byStatus counts nodes. Each status is there, so that an alert finds its zero.
func byStatus(nodes []entity.Node) map[entity.NodeStatus]int {
	out := map[entity.NodeStatus]int{
		entity.NodeUp: 0, entity.NodeSuspect: 0, entity.NodeDown: 0, entity.NodeDraining: 0,
	}
	for _, n := range nodes {
		out[n.Status]++
	}
	return out
}
