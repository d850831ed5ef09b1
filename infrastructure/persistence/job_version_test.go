package persistence_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// storedVersion is how a version stands in the store. Nodes of former releases
// wrote such texts, and read those that are written now.
const storedVersion = `{"name":"n","description":"d","group":"g","labels":{"a":"b"},"owner":"o","jobType":"CRON","jobClass":"c","jobData":"{\"a\":1}",` +
	`"schedule":{"Kind":"CRON","CronExpression":"0 0 0 * * ?","Dialect":"QUARTZ","IntervalMs":1,"At":"2026-11-22T12:00:00Z","TimeZone":"UTC",` +
	`"StartTime":"2026-11-22T12:00:00Z","EndTime":"2026-11-22T12:00:00Z","JitterMs":2,"DstGap":"SKIP","DstOverlap":"BOTH","Anchor":"2026-11-22T12:00:00Z"},` +
	`"misfire":{"Policy":"SKIP","ThresholdSec":3,"WindowSec":4,"MaxFires":5},"priority":6,"timeoutSec":7,"startDeadlineSec":8,` +
	`"retryPolicy":{"maxRetries":9,"backoff":"LINEAR","intervalMs":10,"maxIntervalMs":11,"jitter":0.5,"noRetryOn":["PANIC"]},"overlapPolicy":"SERIAL",` +
	`"maxConcurrency":12,"maxQueued":13,"shardCount":14,"broadcast":true,"routing":{"strategy":"FIRST","labels":{"k":"v"}},"onNodeLoss":"FAIL",` +
	`"alerts":{"onFailure":["a"],"lateAfterSec":18},"deadline":{"at":"06:00","timeZone":"UTC","onMiss":"CANCEL"},` +
	`"parameters":[{"name":"day","type":"INTEGER","default":19,"required":true,"description":"d"}],` +
	`"next":[{"job":"x","name":"g/then","on":"END","params":{"a":"${status}"}}],"status":"PAUSED"}`

// storedLeast is a version in which nothing is said.
const storedLeast = `{"name":"","group":"","jobType":"","schedule":{"Kind":"","CronExpression":"","Dialect":"","IntervalMs":0,"At":"0001-01-01T00:00:00Z","TimeZone":"",` +
	`"StartTime":"0001-01-01T00:00:00Z","EndTime":"0001-01-01T00:00:00Z","JitterMs":0,"DstGap":"","DstOverlap":"","Anchor":"0001-01-01T00:00:00Z"},` +
	`"misfire":{"Policy":"","ThresholdSec":0,"WindowSec":0,"MaxFires":0},"priority":0,` +
	`"retryPolicy":{"maxRetries":0,"backoff":"","intervalMs":0,"maxIntervalMs":0,"jitter":0},"overlapPolicy":"","routing":{"strategy":""},"onNodeLoss":"","status":""}`

func TestAVersionHoldsWhatPeopleWroteOfAJob(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		whole := &entity.Job{
			ID:          "whole",
			Name:        "n",
			Description: "d",
			Group:       "g",
			Labels:      map[string]string{"a": "b"},
			Owner:       "o",
			Type:        entity.JobCommand,
			Class:       "c",
			Data:        `{"a":1}`,
			Schedule: schedule.Spec{
				Kind: schedule.Cron, CronExpression: "0 0 0 * * ?", Dialect: cronexpr.Quartz, IntervalMs: 1, At: at,
				TimeZone:  "UTC",
				StartTime: at, EndTime: at, JitterMs: 2, Anchor: at, DstGap: cronexpr.Skip, DstOverlap: cronexpr.Both,
			},
			Misfire:          entity.Misfire{Policy: entity.MisfireSkip, ThresholdSec: 3, WindowSec: 4, MaxFires: 5},
			Priority:         6,
			TimeoutSec:       7,
			StartDeadlineSec: 8,
			Retry: entity.RetryPolicy{
				MaxRetries: 9, Backoff: entity.BackoffLinear, IntervalMs: 10, MaxIntervalMs: 11,
				Jitter: 0.5, NoRetryOn: []entity.Reason{entity.ReasonPanic},
			},
			Overlap:        entity.OverlapSerial,
			MaxConcurrency: 12,
			MaxQueued:      13,
			ShardCount:     14,
			Broadcast:      true,
			Routing:        entity.Routing{Strategy: entity.RouteFirst, Labels: map[string]string{"k": "v"}},
			OnNodeLoss:     entity.NodeLossFail,
			Alerts:         entity.JobAlerts{OnFailure: []string{"a"}, LateAfterSec: 18},
			Deadline:       entity.JobDeadline{At: "06:00", TimeZone: "UTC", OnMiss: entity.MissCancel},
			Parameters: []entity.JobParameter{{
				Name: "day", Type: entity.ParameterInteger, Default: []byte("19"), Required: true, Description: "d",
			}},
			Next:         []entity.Next{{Job: "x", Name: "g/then", On: entity.NextOnEnd, Params: []byte(`{"a":"${status}"}`)}},
			Status:       entity.JobPaused,
			NextFireTime: at,
			LastFireTime: at,
			DecidedUntil: at,
			PausedAt:     at,
			PausedBy:     entity.PausedByGroup,
			Pause:        entity.Pause{Reason: "r", User: "u", Until: at},
			Partition:    15,
			FenceSeq:     16,
			Limited:      true,
			Version:      17,
			CreateTime:   at,
			UpdateTime:   at,
		}
		for i, v := 0, reflect.ValueOf(*whole); i < v.NumField(); i++ {
			name := v.Type().Field(i).Name
			if slices.Contains([]string{"Unread", "ChangedBy", "EditedBy", "DueTime"}, name) {
				continue // no row of a paused job has it
			}
			require.False(t, v.Field(i).IsZero(), "say something of %s in this test", name)
		}
		least := &entity.Job{ID: "least", Version: 1, CreateTime: at, UpdateTime: at}
		ctx := repository.WithActor(t.Context(), "ann")
		require.NoError(t, s.Write(ctx, repository.LaneAPI, "make", func(ctx context.Context, tx repository.Tx) error {
			return tx.Jobs.Insert(ctx, whole, least)
		}))
		for id, want := range map[string]string{"whole": storedVersion, "least": storedLeast} {
			require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "look",
				func(ctx context.Context, tx dbtest.Tx) error {
					got, err := tx.QueryText(ctx, "SELECT definition FROM scheduler_job_version WHERE job_id = '"+id+"'")
					require.Equal(t, want, got)
					return err
				}))
		}

		kept := entity.Job{
			ID: "whole", Name: whole.Name, Description: whole.Description, Group: whole.Group, Labels: whole.Labels,
			Owner: whole.Owner,
			Type:  whole.Type, Class: whole.Class, Data: whole.Data, Schedule: whole.Schedule, Misfire: whole.Misfire,
			Priority:   whole.Priority,
			TimeoutSec: whole.TimeoutSec, StartDeadlineSec: whole.StartDeadlineSec, Retry: whole.Retry, Overlap: whole.Overlap,
			MaxConcurrency: whole.MaxConcurrency, MaxQueued: whole.MaxQueued, ShardCount: whole.ShardCount,
			Broadcast: whole.Broadcast,
			Routing:   whole.Routing, OnNodeLoss: whole.OnNodeLoss, Status: whole.Status, Version: 17, UpdateTime: at,
			ChangedBy: "ann", Alerts: whole.Alerts, Deadline: whole.Deadline, Parameters: whole.Parameters, Next: whole.Next,
		}
		former, err := s.Jobs.Version(t.Context(), "whole", 17)
		require.NoError(t, err)
		require.Equal(t, &kept, former)
		_, err = s.Jobs.Version(t.Context(), "whole", 16)
		require.Error(t, err)

		// The row holds the rest, too.
		row, err := s.Jobs.Get(t.Context(), "whole")
		require.NoError(t, err)
		require.Equal(t, whole, row)
	})
}
