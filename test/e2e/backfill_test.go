package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The hours of yesterday are run, each once, two at a time, and stand in the
// ledger.
func TestAPastRangeIsBackfilled(t *testing.T) {
	s := start(t)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "hourly", "jobType": "CUSTOM", "jobClass": "noop", "overlapPolicy": "DISCARD", "maxConcurrency": 2,
		"schedule": map[string]any{"kind": "CRON", "cronExpression": "0 0 * * * ?"},
	}, &job)
	path := "/api/v1/jobs/" + job.ID
	to := time.Now().UTC().Truncate(24 * time.Hour)
	body := map[string]any{"from": to.Add(-6 * time.Hour), "to": to, "maxParallel": 5}
	dry := map[string]any{"from": to.Add(-6 * time.Hour), "to": to, "dryRun": true}
	var plan struct {
		FireTimes         []time.Time
		Total, AlreadyRun int
	}
	s.must(200, http.MethodPost, path+"/backfill", dry, &plan)
	require.Equal(t, 6, plan.Total)
	require.Equal(t, to.Add(-6*time.Hour), plan.FireTimes[0])

	type filled struct {
		ID, Status                 string
		Total, AlreadyRun, Started int
	}
	var made, again filled
	s.must(202, http.MethodPost, path+"/backfill", body, &made, "Idempotency-Key", "k")
	s.must(202, http.MethodPost, path+"/backfill", body, &again, "Idempotency-Key", "k")
	require.Equal(t, made.ID, again.ID)
	var page struct{ Items []filled }
	s.await("it is done", path+"/backfills", &page, func() bool { return page.Items[0].Status == "DONE" })
	require.Equal(t, []filled{{made.ID, "DONE", 6, 0, 6}}, page.Items)
	var ledger struct {
		Items []struct {
			Outcome, FireKey string
			ExecutionIDs     []string
		}
	}
	s.must(200, http.MethodGet,
		path+"/fires?from="+to.Add(-6*time.Hour).Format(time.RFC3339)+"&to="+to.Format(time.RFC3339), nil, &ledger)
	require.Len(t, ledger.Items, 6)
	for _, line := range ledger.Items {
		require.Equal(t, "SUCCESS", line.Outcome)
		require.Len(t, line.ExecutionIDs, 1)
	}
	require.Equal(t, "backfill:"+to.Add(-time.Hour).Format("2006-01-02T15:04:05.000Z"), ledger.Items[0].FireKey)
	s.must(200, http.MethodPost, path+"/backfill", dry, &plan)
	require.Equal(t, 6, plan.AlreadyRun)
	require.Empty(t, plan.FireTimes)
	status, _ := s.call(http.MethodPost, path+"/backfills/"+made.ID+"/cancel", nil)
	require.Equal(t, 409, status, "there is nothing left to cancel")
	s.must(204, http.MethodDelete, path, nil, nil)
	status, _ = s.call(http.MethodGet, path+"/backfills", nil)
	require.Equal(t, 404, status)
}
