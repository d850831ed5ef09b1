package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheOverviewAndTheLoadOfARunningServer(t *testing.T) {
	s := start(t)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "tick", "group": "g", "jobType": "CUSTOM", "jobClass": "noop",
		"schedule": map[string]any{"kind": "CRON", "cronExpression": "0/10 * * * * ?"},
	}, &job)
	s.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{}, nil)
	var o struct {
		Jobs       struct{ Enabled int }
		Executions struct{ LastHour struct{ Success int } }
		Nodes      struct{ Up int }
		Degraded   []string
		LatenessMs struct{ P50 *float64 }
	}
	s.await("the run is told of", "/api/v1/monitor/overview", &o, func() bool {
		return o.Executions.LastHour.Success > 0 && o.LatenessMs.P50 != nil
	})
	require.Equal(t, []any{1, 1, []string{}}, []any{o.Jobs.Enabled, o.Nodes.Up, o.Degraded})
	var load struct {
		Items    []struct{ Fires int }
		Peak     struct{ Fires int }
		Jobs     int
		Complete bool
	}
	s.must(200, http.MethodGet, "/api/v1/schedules/load?minutes=60&group=g", nil, &load)
	require.Len(t, load.Items, 60)
	require.Equal(t, []any{6, 1, true}, []any{load.Peak.Fires, load.Jobs, load.Complete})
	s.must(200, http.MethodGet, "/api/v1/schedules/load?minutes=60&group=other", nil, &load)
	require.Zero(t, load.Peak.Fires+load.Jobs)
}
