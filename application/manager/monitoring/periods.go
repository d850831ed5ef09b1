package monitoring

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const (
	// daysKept is how many days rows of a day stay.
	daysKept = 400
	// shardsAwaited is how long a fire may wait for its last shards before it counts as
	// it is.
	shardsAwaited = 7 * 24 * time.Hour
	// mergedRows are the rows of hours of jobs, and as many of scopes, that one
	// transaction merges.
	mergedRows = maxRows / 4
	// expiredFires are the fires that one transaction counts as they are.
	expiredFires = maxRows / 8
	// periodsBudget bounds one call of Periods.
	periodsBudget = 20 * time.Second
)

// Periods merges rows of hours that are old enough into those of days, deletes old rows
// of days, and counts fires whose last shards do not come. It is a task of the leader:
// each step is one transaction under the lock of the fold, between two batches. Safe for
// concurrent use.
func (f *Fold) Periods(ctx context.Context) (int, error) {
	began, total := f.Clock.Monotonic(), 0
	for _, step := range []func(ctx context.Context) (int, error){f.mergeHours, f.dropDays, f.expireFires} {
		for f.Clock.Monotonic()-began < periodsBudget && ctx.Err() == nil {
			at := f.Clock.Monotonic()
			n, err := step(ctx)
			if total += n; err != nil {
				return total, err
			}
			if n == 0 {
				break
			}
			_ = clock.Sleep(ctx, f.Clock, (f.Clock.Monotonic()-at)/2) // the store has other work
		}
	}
	return total, nil
}

// betweenBatches runs a transaction while no batch is open, and none is opened. It does
// nothing where one is.
func (f *Fold) betweenBatches(ctx context.Context, name string,
	fn func(ctx context.Context, tx repository.Tx, state repository.Fold) error,
) error {
	err := f.Store.Write(ctx, repository.LaneRetention, name, func(ctx context.Context, tx repository.Tx) error {
		state, err := tx.Statistics.LockFold(ctx)
		if err != nil || len(state.IDs) > 0 {
			return err
		}
		return fn(ctx, tx, state)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// mergeHours adds some rows of hours to their days. It adds to rows of days that exist:
// a late end may have made another hour of a day that was merged.
func (f *Fold) mergeHours(ctx context.Context) (n int, err error) {
	before := statistics.Mergeable(f.StoreClock.Now(), f.Zone)
	err = f.betweenBatches(ctx, "fold-merge", func(ctx context.Context, tx repository.Tx, _ repository.Fold) error {
		n = 0
		hours, err := tx.Statistics.OldSums(ctx, statistics.Hour, before, mergedRows)
		if err != nil || len(hours) == 0 {
			return err
		}
		dayOf, keys := make(map[repository.SumKey]repository.SumKey, len(hours)), make([]repository.SumKey, 0, len(hours))
		seen := map[repository.SumKey]bool{}
		for _, hour := range hours {
			day := hour
			day.Period, day.Start = statistics.Day, statistics.DayOf(time.UnixMilli(hour.Start), f.Zone).UnixMilli()
			if dayOf[hour] = day; !seen[day] {
				seen[day] = true
				keys = append(keys, day)
			}
		}
		parts, err := f.stored(ctx, tx, hours)
		if err != nil {
			return err
		}
		days, err := f.stored(ctx, tx, keys)
		if err != nil {
			return err
		}
		for _, hour := range hours {
			part, day := parts[hour], days[dayOf[hour]]
			if day == nil {
				day = &statistics.StoredRow{}
				days[dayOf[hour]] = day
			}
			day.Merge(&part.Row)
			day.FoldSeq = max(day.FoldSeq, part.FoldSeq)
		}
		if err := tx.Statistics.PutSums(ctx, keys, days); err != nil {
			return err
		}
		n = len(hours)
		return tx.Statistics.DropSums(ctx, hours)
	})
	return n, err
}

// dropDays deletes some old rows of days.
func (f *Fold) dropDays(ctx context.Context) (n int, err error) {
	before := f.StoreClock.Now().AddDate(0, 0, -daysKept)
	err = f.betweenBatches(ctx, "fold-drop-days", func(ctx context.Context, tx repository.Tx, _ repository.Fold) error {
		days, err := tx.Statistics.OldSums(ctx, statistics.Day, before, maxRows/2)
		n = len(days)
		if err != nil || n == 0 {
			return err
		}
		return tx.Statistics.DropSums(ctx, days)
	})
	return n, err
}

// expireFires counts some fires whose last shards did not come in time, by the shards
// that did: as a batch of its own, in one transaction. A fire that is complete has been
// counted, and only goes.
func (f *Fold) expireFires(ctx context.Context) (n int, err error) {
	keys, err := f.Digests.OpenedBefore(ctx, f.StoreClock.Now().Add(-shardsAwaited), expiredFires)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	ends := make([]statistics.End, len(keys))
	for i, key := range keys {
		ends[i].Job = key.Job
	}
	groups, err := f.groupsOf(ctx, ends)
	if err != nil {
		return 0, err
	}
	err = f.betweenBatches(ctx, "fold-expire", func(ctx context.Context, tx repository.Tx, state repository.Fold) error {
		n = 0
		stored, err := tx.Statistics.OpenFires(ctx, keys)
		if err != nil {
			return err
		}
		state.Seq++
		sums := statistics.NewSums()
		for _, key := range keys {
			row, ok := stored[key]
			if !ok {
				continue // somebody else has counted it
			}
			n++
			if fire := f.fireOf(row, true); fire.FoldSeq > 0 && !fire.Complete() {
				run := fire.Run()
				sums.Add(&run, groups[key.Job])
			}
		}
		if err := f.putSums(ctx, tx, state.Seq, sums, keysOf(sums)); err != nil {
			return err
		}
		if err := tx.Statistics.DropOpenFires(ctx, keys); err != nil {
			return err
		}
		return tx.Statistics.SaveFold(ctx, state)
	})
	return n, err
}

// keysOf are the names of all rows of sums.
func keysOf(sums *statistics.Sums) (keys []repository.SumKey) {
	for _, name := range sums.Jobs() {
		keys = append(keys, repository.SumKey{Period: statistics.Hour, Start: name.Hour, Job: name.Job})
	}
	for _, name := range sums.Scopes() {
		keys = append(keys,
			repository.SumKey{Period: statistics.Hour, Start: name.Hour, Kind: name.Kind, Name: name.Name})
	}
	return keys
}
