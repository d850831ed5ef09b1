package job_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// A trigger names what the job declares, and fires of the schedule have the defaults.
func TestDeclaredParametersReachRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := servicetest.New(t)
		made := d.Create(enginetest.Job("declared", func(j *entity.Job) {
			j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000, TimeZone: "UTC"}
			j.Parameters = []entity.JobParameter{
				{Name: "limit", Type: entity.ParameterInteger, Default: json.RawMessage(`5`), Required: true},
				{Name: "day", Type: entity.ParameterDate},
			}
		}))
		_, err := d.Jobs.Trigger(t.Context(), made.ID, job.Trigger{
			Params: `{"limit":"many","days":"2026-11-22"}`, Source: entity.TriggerManual,
		})
		require.True(t, apperror.Is(err, apperror.KindInvalid))
		require.ErrorContains(t, err, "params.limit")
		require.ErrorContains(t, err, "params.days")
		require.Empty(t, d.Rows(made.ID), "nothing is half done")

		ids, err := d.Jobs.Trigger(t.Context(), made.ID, job.Trigger{
			Params: `{"limit":"9","day":"2026-11-22"}`, Source: entity.TriggerManual,
		})
		require.NoError(t, err)
		d.Node.Start(t)
		d.After(10 * time.Second)
		seen := map[string]string{}
		for _, row := range d.Rows(made.ID) {
			d.AwaitStatus(t, row.ID, entity.StatusSuccess)
		}
		for _, run := range d.Script.Runs() {
			seen[run.Execution.ID] = runidentity.Of(run).Params
		}
		require.Len(t, seen, 2)
		for id, params := range seen {
			if id == ids[0] {
				require.JSONEq(t, `{"limit":9,"day":"2026-11-22"}`, params)
			} else {
				require.JSONEq(t, `{"limit":5}`, params, "the fire of the schedule")
			}
		}
	})
}
