package monitoring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	halving "github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// probedAtOnce bounds the digests of one transaction of a probe.
const probedAtOnce = 50

// errProbed rolls a probe back that met nothing.
var errProbed = errors.New("the probe is over")

// setAside finds the digests of a batch that cannot be added up, and sets them aside. The statistics lack their ends,
// and the next turn adds up the others. Where each can be added up alone, it returns the error of the batch.
func (f *Fold) setAside(ctx context.Context, state repository.Fold, cause error) error {
	bad := map[repository.BinaryID]error{}
	for part := range slices.Chunk(state.IDs, probedAtOnce) {
		err := halving.Walk(f.Aside.Blames(), part, identity.Text, func(ids []repository.BinaryID) error {
			return f.probe(ctx, repository.Fold{Seq: state.Seq, IDs: ids})
		}, func(id repository.BinaryID, err error) error {
			bad[id] = err
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(bad) == 0 {
		return cause
	}
	ids := slices.Collect(maps.Keys(bad))
	digests, err := f.Digests.Digests(ctx, ids)
	if err != nil {
		return fmt.Errorf("read %d digests that cannot be added up: %w", len(ids), err)
	}
	var aside []entity.SetAside
	for _, d := range digests {
		aside = append(aside, asideOf(d, bad[d.ID]))
	}
	err = f.inBatch(ctx, state.Seq, "fold-aside", func(ctx context.Context, tx repository.Tx, now repository.Fold) error {
		for i := range aside {
			aside[i].Time = f.StoreClock.Now()
			if err := tx.Records.SetAside(ctx, aside[i]); err != nil {
				return err
			}
		}
		now.IDs = slices.DeleteFunc(now.IDs, func(id repository.BinaryID) bool { return bad[id] != nil })
		if err := tx.Statistics.DropDigests(ctx, ids); err != nil {
			return err
		}
		return tx.Statistics.SaveFold(ctx, now)
	})
	if errors.Is(err, errStale) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("set %d digests aside: %w", len(ids), err)
	}
	for _, a := range aside {
		f.Aside.Note(a)
	}
	return nil
}

// asideOf is a digest that cannot be added up. It names the job where all its ends are of one.
func asideOf(d repository.Digest, err error) entity.SetAside {
	a := entity.SetAside{
		Kind: entity.AsideDigest, ID: identity.Text(d.ID), State: entity.AsideMissing, Data: d.Data,
		Reason: fmt.Sprintf("statistics lack its ends: %v", err),
	}
	var ends []statistics.End
	if halving.Guard(func() (err error) { ends, err = statistics.Decode(d.Data); return err }) != nil || len(ends) == 0 {
		return a
	}
	a.Reason = fmt.Sprintf("statistics lack its %d ends: %v", len(ends), err)
	if !slices.ContainsFunc(ends, func(e statistics.End) bool { return e.Job != ends[0].Job }) {
		a.Job = identity.Text(ends[0].Job)
	}
	return a
}

// probe does in one transaction, which it rolls back, what a batch of some digests would write.
func (f *Fold) probe(ctx context.Context, part repository.Fold) error {
	b, err := f.read(ctx, part)
	if err != nil {
		return err
	}
	if err := f.addUp(ctx, b); err != nil {
		return err
	}
	var scopes, hours []repository.SumKey
	for _, name := range b.sums.Scopes() {
		scopes = append(scopes, scopeKey(name))
	}
	var jobs []repository.BinaryID
	for _, name := range b.sums.Jobs() {
		hours = append(hours, jobKey(name))
		if len(b.runs[name.Job]) > 0 && !slices.Contains(jobs, name.Job) {
			jobs = append(jobs, name.Job)
		}
	}
	err = f.inBatch(ctx, part.Seq, "fold-probe", func(ctx context.Context, tx repository.Tx, _ repository.Fold) error {
		fires := slices.Collect(maps.Keys(b.shards))
		stored, err := tx.Statistics.OpenFires(ctx, fires)
		if err != nil {
			return err
		}
		var put []repository.OpenFire
		for _, key := range fires {
			if _, changed := f.applyFire(b, key, stored); changed != nil {
				put = append(put, *changed)
			}
		}
		if err := tx.Statistics.PutOpenFires(ctx, put); err != nil {
			return err
		}
		if err := f.putSums(ctx, tx, b.seq, b.sums, slices.Concat(scopes, hours)); err != nil {
			return err
		}
		if _, err := f.putBaselines(ctx, tx, b, jobs); err != nil {
			return err
		}
		return errProbed
	})
	if errors.Is(err, errProbed) {
		return nil
	}
	return err
}

func scopeKey(name statistics.ScopeHour) repository.SumKey {
	return repository.SumKey{Period: statistics.Hour, Start: name.Hour, Kind: name.Kind, Name: name.Name}
}

func jobKey(name statistics.JobHour) repository.SumKey {
	return repository.SumKey{Period: statistics.Hour, Start: name.Hour, Job: name.Job}
}
