package monitoring

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// batch is what the digests of one batch add up to. It is made anew of the same digests
// whenever the batch is repeated.
type batch struct {
	seq  int64
	ends int
	// until is when the youngest of the digests was made.
	until time.Time
	// whole are the ends that count by themselves, and those of shards, which count for
	// their nodes. completed are the sharded fires that end in this batch.
	whole     []statistics.End
	shards    map[repository.FireKey][]statistics.End
	completed []statistics.End

	sums *statistics.Sums
	// runs are what baselines learn from, by job, in the order of their ends.
	runs map[repository.BinaryID][]timedRun
}

// timedRun is a run and when it ended.
type timedRun struct {
	baseline.Run
	at time.Time
}

// read reads the digests of a batch. One that cannot be read is left out: it must not
// stop the others.
func (f *Fold) read(ctx context.Context, state repository.Fold) (*batch, error) {
	digests, err := f.Digests.Digests(ctx, state.IDs)
	if err != nil {
		return nil, fmt.Errorf("read %d digests: %w", len(state.IDs), err)
	}
	b := &batch{seq: state.Seq, shards: map[repository.FireKey][]statistics.End{}}
	for _, d := range digests {
		if b.until.Before(d.Time) {
			b.until = d.Time
		}
		ends, err := statistics.Decode(d.Data)
		if err != nil {
			f.Logger.Error("a digest of ends cannot be read; the statistics lack its ends", "digest", identity.Text(d.ID),
				"bytes", len(d.Data), "error", err)
			continue
		}
		b.ends += len(ends)
		for _, e := range ends {
			if b.whole = append(b.whole, e); e.Shards > 0 {
				key := repository.FireKey{Job: e.Job, Fire: e.Fire}
				b.shards[key] = append(b.shards[key], e)
			}
		}
	}
	return b, nil
}

// tellSuccesses names the jobs that succeeded. The rules end the alerts about them.
func (f *Fold) tellSuccesses(b *batch) {
	if f.Succeeded == nil {
		return
	}
	seen := map[repository.BinaryID]bool{}
	var ids []string
	for _, e := range b.whole {
		if e.Status == entity.StatusSuccess && !seen[e.Job] {
			seen[e.Job] = true
			ids = append(ids, identity.Text(e.Job))
		}
	}
	if len(ids) > 0 {
		f.Succeeded(ids)
	}
}

// applyShards gives the ends of shards to their fires, and notes those that are complete
// with them. It returns their keys.
func (f *Fold) applyShards(ctx context.Context, b *batch) (done []repository.FireKey, err error) {
	keys := make([]repository.FireKey, 0, len(b.shards))
	for key := range b.shards {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b repository.FireKey) int {
		return cmp.Or(bytes.Compare(a.Job[:], b.Job[:]), cmp.Compare(a.Fire, b.Fire))
	})
	for part := range slices.Chunk(keys, maxRows) {
		var runs []statistics.End
		var ended []repository.FireKey
		err := f.inBatch(ctx, b.seq, "fold-shards", func(ctx context.Context, tx repository.Tx, _ repository.Fold) error {
			runs, ended = nil, nil
			stored, err := tx.Statistics.OpenFires(ctx, part)
			if err != nil {
				return err
			}
			var put []repository.OpenFire
			for _, key := range part {
				fire, changed := f.applyFire(b, key, stored)
				if changed != nil {
					put = append(put, *changed)
				}
				if fire.CompletedBy(b.seq) {
					runs, ended = append(runs, fire.Run()), append(ended, key)
				}
			}
			return tx.Statistics.PutOpenFires(ctx, put)
		})
		if err != nil {
			return nil, err
		}
		b.completed, done = append(b.completed, runs...), append(done, ended...)
	}
	return done, nil
}

// applyFire gives one fire its shards of the batch. changed is what is to be stored; nil
// where the fire has the batch already.
func (f *Fold) applyFire(b *batch, key repository.FireKey, stored map[repository.FireKey]repository.OpenFire) (
	fire *statistics.ShardedFire, changed *repository.OpenFire,
) {
	row, known := stored[key]
	fire = f.fireOf(row, known)
	if !fire.Apply(b.seq, b.shards[key]) {
		return fire, nil
	}
	if !known {
		row.FireKey, row.Opened = key, f.StoreClock.Now()
	}
	row.Data, row.FoldSeq = fire.Append(nil), fire.FoldSeq
	return fire, &row
}

// fireOf is a fire as it is stored. One that cannot be read begins anew.
func (f *Fold) fireOf(row repository.OpenFire, known bool) *statistics.ShardedFire {
	if !known {
		return &statistics.ShardedFire{}
	}
	fire, err := statistics.DecodeShardedFire(row.Data)
	if err != nil {
		f.Logger.Error("a fire with shards cannot be read; it is collected anew", "job", identity.Text(row.Job), "error", err)
		return &statistics.ShardedFire{}
	}
	fire.FoldSeq = row.FoldSeq
	return fire
}

// addUp makes the sums of a batch, and the runs that baselines learn from.
func (f *Fold) addUp(ctx context.Context, b *batch) error {
	all := slices.Concat(b.whole, b.completed)
	groups, err := f.groupsOf(ctx, all)
	if err != nil {
		return err
	}
	b.sums, b.runs = statistics.NewSums(), map[repository.BinaryID][]timedRun{}
	for i := range all {
		e := &all[i]
		group, known := groups[e.Job]
		b.sums.Add(e, group)
		if run, ok := baseline.RunOf(e, f.Zone); ok && known { // of a job that was purged nothing is learned
			b.runs[e.Job] = append(b.runs[e.Job], timedRun{run, e.At})
		}
	}
	for _, runs := range b.runs {
		slices.SortStableFunc(runs, func(x, y timedRun) int {
			return cmp.Or(x.at.Compare(y.at), x.Start.Compare(y.Start), cmp.Compare(x.Status, y.Status))
		})
	}
	return nil
}

// dropFires forgets fires that count: their batch is closed.
func (f *Fold) dropFires(ctx context.Context, done []repository.FireKey) error {
	for part := range slices.Chunk(done, maxRows) {
		err := f.Store.Write(ctx, repository.LaneLogs, "fold-drop-fires", func(ctx context.Context, tx repository.Tx) error {
			return tx.Statistics.DropOpenFires(ctx, part)
		})
		if err != nil {
			return fmt.Errorf("forget %d fires with shards: %w", len(part), err)
		}
	}
	return nil
}

// groupsOf are the groups of the jobs of ends, as they are now. A job that was purged
// has none.
func (f *Fold) groupsOf(ctx context.Context, ends []statistics.End) (map[repository.BinaryID]string, error) {
	jobs := make([]repository.BinaryID, len(ends))
	for i := range ends {
		jobs[i] = ends[i].Job
	}
	slices.SortFunc(jobs, func(a, b repository.BinaryID) int { return bytes.Compare(a[:], b[:]) })
	jobs = slices.Compact(jobs)
	groups, err := f.Digests.GroupsOf(ctx, jobs)
	if err != nil {
		return nil, fmt.Errorf("read the groups of %d jobs: %w", len(jobs), err)
	}
	return groups, nil
}
