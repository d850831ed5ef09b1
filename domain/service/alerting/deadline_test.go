package alerting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// The fire of a deadline or a later one keeps it, not one of before: somebody may repeat yesterday's run today.
func TestAnEarlierFireKeepsNoDeadline(t *testing.T) {
	d := entity.Deadline{FireKey: "k", ScheduledTime: at(100), Moment: at(200)}
	run := func(scheduled, end int) *entity.Execution {
		return &entity.Execution{
			FireKey: "other", ScheduledTime: at(scheduled), EndTime: at(end), Status: entity.StatusSuccess, ShardTotal: 1,
		}
	}
	require.False(t, alerting.NewKept(d).Add(run(99, 150)))
	require.True(t, alerting.NewKept(d).Add(run(100, 150)))
	require.True(t, alerting.NewKept(d).Add(run(150, 200)))
	require.False(t, alerting.NewKept(d).Add(run(150, 201)), "too late")
}
