// Package disruption measures a cluster under load that loses a node, restarts its
// nodes, or loses its store for a while.
package disruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// longEvery is how many jobs there are for one whose runs last.
	longEvery = 10
	// settled is the time between two disturbances.
	recoverySpan = 3 * time.Second
)

// loadedCluster is a cluster that fires steadily while it is disturbed.
type loadedCluster struct {
	*rig.Cluster
	b      *rig.Bench
	rate   int
	ledger *measure.Ledger
	ids    []string
	// partitions are those of the jobs.
	partitions []int
	// measured is the moment from which on lateness counts.
	measured time.Time
}

// underLoad lets a cluster fire and disturbs it. Then it accounts for every fire that was due, by
// the entries and by the rows of the store.
func underLoad(ctx context.Context, b *rig.Bench, rate int, disturb func(ctx context.Context, l *loadedCluster,
	r *report.Result) error,
) (report.Result, error) {
	l := &loadedCluster{b: b, rate: rate, ledger: measure.NewLedger(rate * 60)}
	var err error
	if l.Cluster, err = rig.NewCluster(ctx, b, l.ledger, rig.Shape{Eager: true}); err != nil {
		return report.Result{}, err
	}
	defer l.Close(ctx)
	if err := l.fill(ctx); err != nil {
		return report.Result{}, err
	}
	r := l.Describe(rate)
	if err := l.Start(ctx); err != nil {
		return r, err
	}
	if joined := l.Now(); joined.After(l.measured) {
		l.measured = joined
	}
	l.measured = l.measured.Add(rig.WarmUp)
	if err := b.Sleep(ctx, l.measured.Sub(l.Now())); err != nil {
		return r, err
	}
	m, err := b.StartMeter(l)
	if err != nil {
		return r, err
	}
	if err := disturb(ctx, l, &r); err != nil {
		return r, err
	}
	m.Read(&r)
	return r, l.conclude(ctx, &r)
}

// fill loads the jobs: every partition has some, as far as there are so many,
// and each tenth lasts.
func (l *loadedCluster) fill(ctx context.Context) error {
	b := l.b
	begin := l.Now().Truncate(time.Second).Add(recoverySpan + time.Duration(l.rate)*rig.LoadTime)
	l.measured = begin
	b.Note("loading %d jobs, each once a second; each %dth runs for %s", l.rate, longEvery, measure.LongSpan)
	var failed error
	err := b.LoadSteady(ctx, l, l.ledger, l.rate, begin, func(i int, j *entity.Job) {
		id, err := idIn(i % entity.Partitions)
		failed = errors.Join(failed, err)
		j.ID, j.OnNodeLoss = id, entity.NodeLossRetry
		if i%longEvery == 0 {
			j.Class = node.LongClass
		}
		l.ids = append(l.ids, id)
		l.partitions = append(l.partitions, i%entity.Partitions)
	})
	return errors.Join(err, failed)
}

// idIn draws ids until one lies in the partition.
func idIn(partition int) (string, error) {
	for {
		id, err := uuid.NewV7()
		if err != nil {
			return "", fmt.Errorf("make a job id: %w", err)
		}
		if text := id.String(); entity.PartitionOf(text) == partition {
			return text, nil
		}
	}
}

// conclude waits until what was due by now has been entered and has ended,
// stops the nodes and accounts.
func (l *loadedCluster) conclude(ctx context.Context, r *report.Result) error {
	b, until := l.b, l.Now()
	b.Note("letting the rest finish")
	err := l.Await(ctx, rig.StallBound, "not every fire was seen", func() (bool, error) {
		return l.ledger.Account(until).Lost == 0, nil
	})
	if err != nil && !errors.Is(err, rig.ErrTooLong) { // a late one counts as lost
		return err
	}
	if err := b.Sleep(ctx, measure.LongSpan+recoverySpan); err != nil {
		return err
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	rows, err := b.Scratch.Rows(ctx, l.ids)
	if err != nil {
		return err
	}
	r.Count(l.ledger.Account(until))
	r.Rows = l.ledger.Check(rows, until)
	r.Lost = max(r.Lost, r.Rows.Missing+r.Rows.Unfinished)
	r.Doubled += r.Rows.Twice + r.Rows.Stale
	r.LatenessMs = l.ledger.Lateness(l.measured)
	return nil
}
