package firing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// database is a server with a clock of its own: time passes for it as for the
// node, whose wall clock may be set.
type database struct{ node *clocktest.Manual }

// StoreTime implements repository.TimeSource.
func (d database) StoreTime(context.Context) (time.Time, error) {
	return enginetest.Noon.Add(d.node.Monotonic()), nil
}

// Rule 13: a fire is due by the store's clock. NTP sets a node's wall clock an
// hour ahead, and the scan comes before the next measurement.
func TestAStepOfANodesWallClockFiresNothing(t *testing.T) {
	clock := clocktest.NewManual(enginetest.Noon)
	n := enginetest.New(t, enginetest.Options{Clock: clock, StoreTime: database{clock}})
	require.NoError(t, n.Time.Measure(t.Context()))
	minutely := n.Add(t, enginetest.Job("minutely", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.CronExpression, j.Schedule.Dialect = schedule.Cron, "0 * * * * ?", "QUARTZ"
	}))
	half := n.Add(t, enginetest.Job("half past", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.CronExpression, j.Schedule.Dialect = schedule.Cron, "0 30 12 * * ?", "QUARTZ"
	}))
	rows := func() int { return len(n.Executions(t, minutely.ID)) + len(n.Executions(t, half.ID)) }
	n.Clock.Advance(10 * time.Second)
	n.Fire(t)
	before := rows()
	for _, step := range []time.Duration{time.Hour, -2 * time.Hour} {
		n.Clock.Jump(step)
		n.Fire(t)
		require.Equal(t, before, rows(), "nothing is due by the store's clock")
	}
	n.Clock.Advance(50*time.Second + time.Millisecond)
	n.Fire(t)
	require.Equal(t, before+1, rows(), "12:01 is")
}
