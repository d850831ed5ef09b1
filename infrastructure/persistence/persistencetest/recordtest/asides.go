package recordtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Asides is the contract of what is set aside because the store refuses it.
func Asides(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	event := entity.SetAside{
		Kind: entity.AsideEvent, ID: "e1", Job: storetest.JobID(1), Rule: "rule-1", State: entity.AsideMissing,
		Reason: "Data too long for column 'labels' 组", Time: storetest.Noon,
	}
	digest := entity.SetAside{
		Kind: entity.AsideDigest, ID: "d1", State: entity.AsideMissing, Reason: strings.Repeat("组", 5000),
		Time: storetest.Noon.Add(time.Minute), Data: []byte{0, 1, 255},
	}
	plan := entity.SetAside{
		Kind: entity.AsidePlan, ID: "a1", State: entity.AsideWaiting, Reason: "no", Time: storetest.Noon.Add(time.Second),
	}
	later := plan
	later.State, later.Reason, later.Time = entity.AsideDead, "still no", storetest.Noon.Add(time.Hour)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for _, a := range []entity.SetAside{event, digest, plan, event, later} {
			if err := tx.Records.SetAside(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	all, err := s.ListAsides(t.Context(), "", 10)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "d1", all[0].ID, "the newest is the first")
	require.LessOrEqual(t, len(all[0].Reason), 1000)
	later.Time = plan.Time
	require.Equal(t, []entity.SetAside{later, event}, all[1:], "its time is the first one")
	plans, err := s.ListAsides(t.Context(), entity.AsidePlan, 10)
	require.NoError(t, err)
	require.Equal(t, []entity.SetAside{later}, plans)
	newest, err := s.ListAsides(t.Context(), "", 1)
	require.NoError(t, err)
	require.Len(t, newest, 1)
	found, err := s.AsidesOf(t.Context(), entity.AsidePlan, []string{"a1", "e1", "none", "组"})
	require.NoError(t, err)
	require.Equal(t, map[string]entity.SetAside{"a1": later}, found)
	counts, err := s.CountAsides(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[entity.AsideKind]int{entity.AsideEvent: 1, entity.AsideDigest: 1, entity.AsidePlan: 1}, counts)

	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.DropAside(ctx, entity.AsidePlan, []string{"a1", "e1"})
	})
	p, err := s.PurgeAsides(t.Context(), storetest.Noon.Add(time.Second), 1)
	require.NoError(t, err)
	require.Equal(t, repository.Purged{Deleted: 1, More: true}, p)
	p, err = s.PurgeAsides(t.Context(), storetest.Noon.Add(time.Second), 1)
	require.NoError(t, err)
	require.Zero(t, p.Deleted)
	left, err := s.ListAsides(t.Context(), "", 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "d1", left[0].ID)
}
