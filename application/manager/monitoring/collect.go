// Package monitoring turns what happens on nodes into figures that last.
package monitoring

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// Source reads the instruments of this node.
type Source interface {
	// Sample reads the series of the node and of its groups, and those of the cluster where this node leads.
	Sample(ctx context.Context, leads bool) []series.Measure
}

// MetricWriter keeps rows; see repository.MetricRows.
type MetricWriter interface {
	PutMetrics(ctx context.Context, rows []series.Row) error
}

// Collection is what a node measured in one minute.
type Collection struct {
	NodeID string
	// Time is the begin of the minute in UTC.
	Time time.Time
	Rows []series.Row
}

// Publisher passes collections on, at best effort. It must not block.
type Publisher interface {
	Publish(c Collection)
}

// CollectorDeps are the parts of a Collector.
type CollectorDeps struct {
	Source Source
	Store  MetricWriter
	// Publisher may be nil.
	Publisher Publisher
	// Leads reports whether this node does the tasks of the leader.
	Leads func() bool
	// Clock is the store's, so that the minutes of all nodes are the same.
	Clock  clock.StoreClock
	NodeID string
}

// maxPending bounds the rows that wait while the store is away; the oldest go first.
const maxPending = 20_000

// Collector samples the instruments of a node and writes a row a minute. Safe for concurrent use.
type Collector struct {
	CollectorDeps
	catalogue *series.Catalogue

	turn turns.Turn
	// minute is the one that is collected. whole is false for the first: part of it belongs to a former life of the
	// node, whose row must stay. Its readings count in the next minute.
	minute time.Time
	whole  bool
	rows   map[rowKey]*series.Row
	// totals are the latest totals of sums.
	totals  map[rowKey]float64
	pending []series.Row
	dropped atomic.Int64
}

type rowKey struct{ name, group string }

// NewCollector wires the parts.
func NewCollector(d CollectorDeps) *Collector {
	return &Collector{
		CollectorDeps: d, catalogue: series.NewCatalogue(), rows: map[rowKey]*series.Row{},
		totals: map[rowKey]float64{}, turn: turns.NewTurn(),
	}
}

// RunOnce takes a sample. When a minute is over, it writes the rows of that minute. Figures that the store does not
// take are tried again at the next call.
func (c *Collector) RunOnce(ctx context.Context) error {
	measures := c.Source.Sample(ctx, c.Leads())
	if err := c.turn.Take(ctx); err != nil {
		return err
	}
	defer c.turn.Give()
	now := c.Clock.Now().Truncate(time.Minute)
	switch {
	case c.minute.IsZero():
		c.minute = now
	case now.After(c.minute) && !c.whole:
		c.minute, c.whole = now, true
	case now.After(c.minute):
		c.closeMinute()
		c.minute = now
	}
	c.take(measures)
	return c.write(ctx)
}

// Flush writes what was collected of the present minute, when the node stops.
func (c *Collector) Flush(ctx context.Context) error {
	if err := c.turn.Take(ctx); err != nil {
		return err
	}
	defer c.turn.Give()
	if c.whole {
		c.closeMinute()
	}
	return c.write(ctx)
}

// Dropped returns how many rows were given up because the store was away for too long.
func (c *Collector) Dropped() int64 {
	return c.dropped.Load()
}

// take adds the measures of one sample. The caller holds the lock.
func (c *Collector) take(measures []series.Measure) {
	for _, m := range measures {
		def, ok := c.catalogue.Find(m.Name)
		if !ok {
			continue
		}
		key, value := rowKey{m.Name, m.Group}, m.Value
		if def.Kind == series.Sum {
			before, known := c.totals[key]
			c.totals[key] = m.Value
			if known && m.Value >= before { // a total that fell began again at zero
				value -= before
			}
			if value == 0 {
				continue
			}
		}
		c.add(def, key, value)
	}
}

func (c *Collector) add(def series.Def, key rowKey, value float64) {
	row := c.rows[key]
	if row == nil {
		row = &series.Row{Name: key.name, Period: series.Minute, Group: key.group}
		if def.Scope != series.Cluster {
			row.NodeID = c.NodeID
		}
		c.rows[key] = row
	}
	if def.Kind == series.Sum { // one reading a minute, whatever the number of samples
		row.Samples, row.Sum = 1, row.Sum+value
		row.Min, row.Max = row.Sum, row.Sum
		return
	}
	row.Merge(series.Row{Samples: 1, Sum: value, Min: value, Max: value})
}

// closeMinute makes the rows of the minute ready to be written. The caller holds the lock.
func (c *Collector) closeMinute() {
	done := Collection{NodeID: c.NodeID, Time: c.minute}
	for _, row := range c.rows {
		row.Time = c.minute
		done.Rows = append(done.Rows, *row)
	}
	clear(c.rows)
	if len(done.Rows) == 0 {
		return
	}
	if c.Publisher != nil {
		c.Publisher.Publish(done)
	}
	c.pending = append(c.pending, done.Rows...)
	if over := len(c.pending) - maxPending; over > 0 {
		c.dropped.Add(int64(over))
		c.pending = append(c.pending[:0:0], c.pending[over:]...)
	}
}

// write sends what is pending. The caller holds the lock.
func (c *Collector) write(ctx context.Context) error {
	if len(c.pending) == 0 {
		return nil
	}
	if err := c.Store.PutMetrics(ctx, c.pending); err != nil {
		return errors.Join(errors.New("write the metrics of the node"), err)
	}
	c.pending = nil
	return nil
}
