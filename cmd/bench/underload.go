package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// longEvery is how many jobs there are for one whose runs last.
	longEvery = 10
	// settled is the time between two disturbances.
	settled = 3 * time.Second
)

// load is a cluster that fires steadily while it is disturbed.
type load struct {
	*cluster
	ledger *ledger
	ids    []string
	// partitions are those of the jobs.
	partitions []int
	// measured is the moment from which on lateness counts.
	measured time.Time
}

// underLoad lets a cluster fire, disturbs it, and then accounts for every fire
// that was due: by the entries, and by the rows of the store.
func (b *bench) underLoad(ctx context.Context, disturb func(ctx context.Context, l *load, r *Result) error) (Result, error) {
	l := &load{ledger: newLedger(b.Rate * 60)}
	var err error
	if l.cluster, err = b.newCluster(ctx, l.ledger, shape{eager: true}); err != nil {
		return Result{}, err
	}
	defer l.close(ctx)
	if err := l.fill(ctx); err != nil {
		return Result{}, err
	}
	r := l.describe(b.Rate)
	if err := l.start(ctx); err != nil {
		return r, err
	}
	if joined := l.now(); joined.After(l.measured) {
		l.measured = joined
	}
	l.measured = l.measured.Add(warmUp)
	if err := b.sleep(ctx, l.measured.Sub(l.now())); err != nil {
		return r, err
	}
	m, err := b.meter(l)
	if err != nil {
		return r, err
	}
	if err := disturb(ctx, l, &r); err != nil {
		return r, err
	}
	m.read(&r)
	return r, l.conclude(ctx, &r)
}

// fill loads the jobs: every partition has some, as far as there are so many,
// and each tenth lasts.
func (l *load) fill(ctx context.Context) error {
	b := l.b
	begin := l.now().Truncate(time.Second).Add(settled + time.Duration(b.Rate)*loadTime)
	l.measured = begin
	b.note("loading %d jobs, each once a second; each %dth runs for %s", b.Rate, longEvery, longSpan)
	var failed error
	err := b.steady(ctx, l, l.ledger, b.Rate, begin, func(i int, j *entity.Job) {
		id, err := idIn(i % entity.Partitions)
		failed = errors.Join(failed, err)
		j.ID, j.OnNodeLoss = id, entity.NodeLossRetry
		if i%longEvery == 0 {
			j.Class = longClass
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
func (l *load) conclude(ctx context.Context, r *Result) error {
	b, until := l.b, l.now()
	b.note("letting the rest finish")
	err := l.await(ctx, stallBound, "not every fire was seen", func() (bool, error) { return l.ledger.account(until).lost == 0, nil })
	if err != nil && !errors.Is(err, errTooLong) { // too late is lost, and told so
		return err
	}
	if err := b.sleep(ctx, longSpan+settled); err != nil {
		return err
	}
	if err := l.stop(ctx); err != nil {
		return err
	}
	rows, err := b.scratch.rows(ctx, l.ids)
	if err != nil {
		return err
	}
	r.count(l.ledger.account(until))
	r.Rows = l.ledger.check(rows, until)
	r.Lost = max(r.Lost, r.Rows.Missing+r.Rows.Unfinished)
	r.Doubled += r.Rows.Twice + r.Rows.Stale
	r.LatenessMs = l.ledger.lateness(l.measured)
	return nil
}
