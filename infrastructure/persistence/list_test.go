package persistence_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestAFilteredListReadsWindowByWindow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		persistence.SetScanWindow(s, 10)
		var rows []*entity.Execution
		var failed []string
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for n := range 250 {
			key := identity.FireKey(at.Add(time.Duration(n) * time.Second))
			e := &entity.Execution{
				ID: identity.ExecutionID(at.Add(time.Duration(n)*time.Second), "j", key, 0), JobID: "j", FireKey: key, Trigger: entity.TriggerSchedule,
				Status: entity.StatusSuccess, CreateTime: at, UpdateTime: at,
			}
			if n%61 == 3 || n == 249 {
				e.Status = entity.StatusFailed
				failed = append(failed, e.ID)
			}
			rows = append(rows, e)
		}
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, rows) }))
		slices.Reverse(failed)
		for _, f := range []repository.ExecutionFilter{{Status: entity.StatusFailed}, {JobID: "j", Status: entity.StatusFailed}} {
			for _, limit := range []int{1, 2, 50} {
				var seen []string
				pages := 0
				for page := (repository.Page{Limit: limit}); ; pages++ {
					require.Less(t, pages, 20)
					got, next, err := s.Executions.List(t.Context(), f, page)
					require.NoError(t, err)
					require.LessOrEqual(t, len(got), limit)
					for _, e := range got {
						seen = append(seen, e.ID)
					}
					if next == "" {
						break
					}
					page.Cursor = next
				}
				require.Equal(t, failed, seen, "pages of %d", limit)
			}
		}
	})
}
