package persistence_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// BenchmarkClaim measures the look before a claim, from either end of the ready
// range, and claims of 100 runs from one queue and from three. One iteration of
// a claim includes putting the runs there.
//
//	go test -run '^$' -bench Claim ./infrastructure/persistence
func BenchmarkClaim(b *testing.B) {
	for name, config := range map[string]func() (persistence.Config, bool){
		"sqlite": func() (persistence.Config, bool) { return dbtest.SQLite(b), true },
		"mysql": func() (persistence.Config, bool) {
			if !dbtest.HasMySQL(b) {
				return persistence.Config{}, false
			}
			return dbtest.MySQL(b), true
		},
	} {
		b.Run(name, func(b *testing.B) {
			cfg, ok := config()
			if !ok {
				b.Log("no MySQL to measure with")
				return
			}
			s := dbtest.Open(b, cfg)
			next := 0
			benchLook(b, s, &next)
			benchClaims(b, s, &next)
		})
	}
}

// waitingRuns adds runs, in turn to the queues.
func waitingRuns(b *testing.B, s *persistence.Store, next *int, count int, queues ...entity.Queue) {
	b.Helper()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	rows := make([]*entity.Execution, count)
	for i := range rows {
		*next++
		job, key := fmt.Sprintf("01930000-0000-7000-8000-%012d", *next), identity.FireKey(at)
		rows[i] = &entity.Execution{
			ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
			Trigger:    entity.TriggerSchedule,
			ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusWaiting, CreateTime: at, UpdateTime: at,
			Claim: queues[i%len(queues)].Key(5, at.Add(time.Duration(*next)*time.Millisecond)),
		}
	}
	require.NoError(b, s.Write(b.Context(), repository.LaneFire, "bench",
		func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.Insert(ctx, rows)
		}))
}

func benchLook(b *testing.B, s *persistence.Store, next *int) {
	waitingRuns(b, s, next, 500, entity.CommonQueue)
	b.Run("look/first", func(b *testing.B) {
		for b.Loop() {
			_, err := s.First(b.Context(), "W*", "W+")
			require.NoError(b, err)
		}
	})
	b.Run("look/last", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Last(b.Context(), entity.ReadySpan().Lo, entity.UnroutableSpan().Lo)
			require.NoError(b, err)
		}
	})
}

func benchClaims(b *testing.B, s *persistence.Store, next *int) {
	all := []entity.Queue{
		entity.CommonQueue, entity.NodeQueue("n1", entity.SlotGeneral),
		entity.LabelQueue(map[string]string{"zone": "a"}),
	}
	for name, queues := range map[string][]entity.Queue{"claim/common": all[:1], "claim/three queues": all} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				waitingRuns(b, s, next, 100, queues...)
				var got []*entity.Execution
				require.NoError(b, s.Write(b.Context(), repository.LaneComplete, "bench",
					func(ctx context.Context, tx repository.Tx) (err error) {
						got, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
							NodeID: "n1", Epoch: 1, Limit: 100, Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Queues: queues,
						})
						return err
					}))
				require.Len(b, got, 100)
			}
		})
	}
}
