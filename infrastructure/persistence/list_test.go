package persistence_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestAFilteredListReadsWindowByWindow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		s.Dialect.ScanWindow = 10
		var rows []*entity.Execution
		var failed []string
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for n := range 250 {
			key := identity.FireKey(at.Add(time.Duration(n) * time.Second))
			e := &entity.Execution{
				ID: identity.ExecutionID(at.Add(time.Duration(n)*time.Second), "j", key, 0), JobID: "j", FireKey: key,
				Trigger: entity.TriggerSchedule,
				Status:  entity.StatusSuccess, CreateTime: at, UpdateTime: at,
			}
			if n%61 == 3 || n == 249 {
				e.Status = entity.StatusFailed
				failed = append(failed, e.ID)
			}
			rows = append(rows, e)
		}
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test",
			func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, rows) }))
		slices.Reverse(failed)
		for _, f := range []repository.ExecutionFilter{
			{Status: entity.StatusFailed},
			{JobID: "j", Status: entity.StatusFailed},
		} {
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

func TestAPageOfARareFilterEndsWithItsBudget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		now := clocktest.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		windows := 0
		cfg.Clock = now
		cfg.Observe = func(statement string, _ time.Duration, _ error) {
			if statement == "execution.list" {
				windows++
				now.Advance(7 * time.Millisecond)
			}
		}
		s := dbtest.Open(t, cfg)
		s.Dialect.ScanWindow = 10
		h := history{t: t, rows: 1000}
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test",
			func(ctx context.Context, tx repository.Tx) error {
				return tx.Executions.Insert(ctx, numbered(0, h.rows, h.run))
			}))
		pages, searched := 0, h.at(h.rows)
		for page := (repository.Page{Limit: 50}); ; pages++ {
			windows = 0
			rows, next, err := s.Executions.List(t.Context(), repository.ExecutionFilter{NodeID: "node-x"}, page)
			require.NoError(t, err)
			require.Empty(t, rows)
			require.LessOrEqual(t, windows, 3, "page %d", pages)
			until := page.SearchedUntil(len(rows), next)
			if next == "" {
				require.Zero(t, until)
				break
			}
			require.Zero(t, page.SearchedUntil(page.Limit, next), "a full page is no search that ended")
			require.True(t, until.Before(searched) && !until.Before(h.at(0)), "page %d: %s, %s", pages, until, searched)
			searched = until
			page.Cursor = next
		}
		require.Positive(t, pages)
	})
}

func TestLiveRunsAreListedFromTheClaimIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		s.Dialect.ScanWindow = 10
		h := history{t: t, rows: 1000}
		runs := numbered(0, h.rows, h.run)
		for n, key := range []entity.ClaimKey{
			entity.CommonQueue.Key(5, h.at(0)), entity.ScheduledKey(h.at(0)),
			entity.QueuedKey("j", 1),
		} {
			runs[100*n].Status, runs[100*n].Claim, runs[100*n].NodeID = entity.StatusWaiting, key, ""
		}
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test",
			func(ctx context.Context, tx repository.Tx) error {
				return tx.Executions.Insert(ctx, runs)
			}))
		for _, c := range []struct {
			filter repository.ExecutionFilter
			want   []*entity.Execution
		}{
			{repository.ExecutionFilter{Status: entity.StatusRunning}, runs[980:]},
			{
				repository.ExecutionFilter{Status: entity.StatusRunning, NodeID: "node-1", From: h.at(984)},
				[]*entity.Execution{runs[984], runs[986], runs[988], runs[990], runs[992], runs[994], runs[996], runs[998]},
			},
			{repository.ExecutionFilter{Status: entity.StatusWaiting}, []*entity.Execution{runs[0], runs[100], runs[200]}},
			{repository.ExecutionFilter{Status: entity.StatusWaiting, To: h.at(200)}, []*entity.Execution{runs[0], runs[100]}},
		} {
			var want, seen []string
			for _, e := range slices.Backward(c.want) {
				want = append(want, e.ID)
			}
			for page := (repository.Page{Limit: 3}); ; {
				rows, next, err := s.Executions.List(t.Context(), c.filter, page)
				require.NoError(t, err)
				for _, e := range rows {
					seen = append(seen, e.ID)
				}
				if next == "" {
					break
				}
				require.Len(t, rows, 3, "no page is short")
				page.Cursor = next
			}
			require.Equal(t, want, seen, "%+v", c.filter)
		}
	})
}
