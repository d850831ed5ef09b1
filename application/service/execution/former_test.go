package execution_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// The last good run is one of the same job, before the execution, and no failure.
func TestTheLastSuccessBeforeARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := servicetest.New(t)
		job := d.Create(enginetest.Job("ledger", func(j *entity.Job) {
			j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000, TimeZone: "UTC"}
		}))
		d.Node.Start(t)
		ids := make([]string, 0, 4)
		for i, outcome := range []entity.Outcome{
			{Status: entity.StatusSuccess},
			{Status: entity.StatusSuccess},
			entity.Failed(entity.ReasonError, "no"),
			entity.Failed(entity.ReasonError, "no"),
		} {
			d.Script.Reply(enginetest.Always(outcome))
			d.After(10 * time.Second)
			rows := d.Rows(job.ID)
			require.Len(t, rows, i+1)
			for _, r := range rows {
				if !slices.Contains(ids, r.ID) {
					ids = append(ids, r.ID)
					d.AwaitStatus(t, r.ID, outcome.Status)
				}
			}
		}
		for i, want := range []string{"", ids[0], ids[1], ids[1]} {
			last, complete, err := d.Executions.LastSuccess(t.Context(), ids[i])
			require.NoError(t, err)
			require.True(t, complete)
			if want == "" {
				require.Nil(t, last)
				continue
			}
			require.Equal(t, want, last.ID)
		}
		_, _, err := d.Executions.LastSuccess(t.Context(), "nobody")
		require.True(t, apperror.Is(err, apperror.KindNotFound))
	})
}
