package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func TestNewJobHoldsTheDefaultsOfTheContract(t *testing.T) {
	t.Parallel()
	j := validation.NewJob("Asia/Shanghai")
	require.Equal(t, "default", j.Group)
	require.Equal(t, "{}", j.Data)
	require.Equal(t, 5, j.Priority)
	require.Equal(t, entity.Misfire{
		Policy: entity.MisfireFireOnce, ThresholdSec: 60, WindowSec: 31_536_000, MaxFires: 1000,
	}, j.Misfire)
	require.Equal(t, entity.RetryPolicy{
		Backoff: entity.BackoffFixed, IntervalMs: 1000, MaxIntervalMs: 60_000,
		Jitter: 0.1,
	}, j.Retry)
	require.Equal(t, entity.OverlapParallel, j.Overlap)
	require.Equal(t, 100, j.MaxQueued)
	require.Equal(t, 1, j.ShardCount)
	require.Equal(t, entity.Routing{Strategy: entity.RouteAny}, j.Routing)
	require.Equal(t, entity.NodeLossRetry, j.OnNodeLoss)
	require.Equal(t, schedule.None, j.Schedule.Kind)
	require.Equal(t, "Asia/Shanghai", j.Schedule.TimeZone)
	require.EqualValues(t, "QUARTZ", j.Schedule.Dialect)
	require.EqualValues(t, "NEXT_VALID", j.Schedule.DstGap)
	require.EqualValues(t, "FIRST", j.Schedule.DstOverlap)
	require.Equal(t, []string{"name required", "jobType required"}, faults(validation.Job(j, now)),
		"only these must be said")
}

func TestDefaultsLeaveALegalZeroAlone(t *testing.T) {
	t.Parallel()
	j := &entity.Job{}
	validation.Defaults(j, "")
	require.Zero(t, j.MaxQueued)
	require.Zero(t, j.Misfire.ThresholdSec)
	require.Zero(t, j.Misfire.WindowSec)
	require.Zero(t, j.Retry.IntervalMs)
	require.Zero(t, j.Retry.Jitter)
	require.Equal(t, "UTC", j.Schedule.TimeZone)
	j.Name, j.Type = "n", entity.JobHTTP
	require.Empty(t, validation.Job(j, now))
}

func TestDefaultsKeepWhatWasSaid(t *testing.T) {
	t.Parallel()
	said := good()
	said.Group, said.Priority, said.ShardCount = "mine", 9, 3
	said.Misfire.MaxFires, said.Overlap, said.OnNodeLoss = 7, entity.OverlapReplace, entity.NodeLossFail
	said.Schedule.TimeZone = "Europe/Berlin"
	kept := *said
	validation.Defaults(&kept, "Asia/Shanghai")
	require.Equal(t, *said, kept)
}

func TestDefaultCapOfTheWaitIsNotBelowTheInterval(t *testing.T) {
	t.Parallel()
	for interval, want := range map[int64]int64{0: 0, 5: 60_000, 90_000: 90_000} {
		j := &entity.Job{Retry: entity.RetryPolicy{IntervalMs: interval}}
		validation.Defaults(j, "")
		require.Equal(t, want, j.Retry.MaxIntervalMs, "interval %d", interval)
	}
}

func TestScheduleWithoutAKind(t *testing.T) {
	t.Parallel()
	j := &entity.Job{Schedule: schedule.Spec{CronExpression: "0 0 * * * ?"}}
	validation.Defaults(j, "")
	require.Equal(t, schedule.Cron, j.Schedule.Kind)
	j = &entity.Job{Schedule: schedule.Spec{TimeZone: "Asia/Shanghai", Anchor: now}}
	validation.Defaults(j, "")
	require.Equal(t, schedule.None, j.Schedule.Kind, "a zone does not say when to fire")
}
