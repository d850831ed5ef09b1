package monitoring_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// refuser refuses sums with some keys.
type refuser struct {
	repository.StatisticsWriter
	bad func(k repository.SumKey) bool
}

func (w refuser) PutSums(ctx context.Context, keys []repository.SumKey,
	rows map[repository.SumKey]*statistics.StoredRow,
) error {
	for _, k := range keys {
		if w.bad(k) {
			return &repository.PoisonError{Err: errors.New("data too long for column 'name'")}
		}
	}
	return w.StatisticsWriter.PutSums(ctx, keys, rows)
}

// A digest whose sums the store refuses is moved aside whole; all others are added up.
func TestADigestThatTheStoreRefusesStopsNoOther(t *testing.T) {
	for name, bad := range map[string]func(k repository.SumKey) bool{
		"the row of a group": func(k repository.SumKey) bool { return k.Name == "bad" },
		"the row of a node":  func(k repository.SumKey) bool { return k.Name == "bad-node" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t))
			job := d.addJob("bad", "bad")
			d.add(d.end(0, entity.StatusSuccess, nil), d.end(1, entity.StatusFailed, nil))
			d.clock.Advance(time.Second)
			want := d.want
			d.want = map[repository.SumKey]*statistics.Row{}
			refused := d.end(5, entity.StatusFailed, func(e *entity.Execution) { e.NodeID = "bad-node" })
			d.add(refused, d.end(5, entity.StatusSuccess, nil))
			d.want = want
			d.clock.Advance(time.Second)
			d.add(d.end(2, entity.StatusSuccess, nil))
			refusing := enginetest.Around(d.store, func(tx *repository.Tx) { tx.Statistics = refuser{tx.Statistics, bad} })
			d.drain(d.fold(refusing))
			d.check()
			asides, err := d.store.ListAsides(t.Context(), entity.AsideDigest, 10)
			require.NoError(t, err)
			require.Len(t, asides, 1)
			require.Equal(t, job.ID, asides[0].Job)
			require.Equal(t, entity.AsideMissing, asides[0].State)
			require.Contains(t, asides[0].Reason, "statistics lack its 2 ends")
			require.Contains(t, asides[0].Reason, "data too long")
			d.add(d.end(0, entity.StatusSuccess, nil))
			d.drain(d.fold(refusing))
			d.check()
		})
	}
}

// A group with the longest name, which the API takes, has statistics.
func TestTheLongestNameOfAGroupHasStatistics(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		name := strings.Repeat("\U00020000", validation.MaxGroup)
		require.Empty(t, validation.GroupName(name))
		d.addJob("long", name)
		d.add(d.end(5, entity.StatusSuccess, nil))
		d.drain(d.fold(d.faults))
		rows, err := d.store.Statistics.SumRows(t.Context(), repository.SumsQuery{
			Kind: statistics.KindGroup, Names: []string{name}, Hours: always, Days: always,
		})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		asides, err := d.store.ListAsides(t.Context(), "", 10)
		require.NoError(t, err)
		require.Empty(t, asides)
	})
}
