package e2e_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// A target accepts a run, says how it goes on and later how it ended, over the
// API and with nothing but the token of its attempt.
func TestATargetReportsTheEndOfItsRun(t *testing.T) {
	s := start(t)
	reports := make(chan int, 4)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, token := r.Header.Get("X-Scheduler-Report-Path"), r.Header.Get("X-Scheduler-Run-Token")
		w.WriteHeader(http.StatusAccepted)
		go func() {
			for _, body := range []string{
				`{"progress":40,"lines":["picking"]}`, `{"status":"SUCCESS","result":"7 parcels"}`,
				`{"lines":["late"]}`,
			} {
				req, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader([]byte(body)))
				if err != nil {
					reports <- 0
					continue
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Scheduler-Run-Token", token)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					reports <- 0
					continue
				}
				_ = res.Body.Close()
				reports <- res.StatusCode
			}
		}()
	}))
	t.Cleanup(target.Close)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "pack", "jobType": "HTTP", "timeoutSec": 30,
		"jobData": map[string]any{"method": "POST", "url": target.URL, "async": true},
	}, &job)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	s.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{}, &run)
	var execution struct{ Status, Result string }
	s.await("the run ends", "/api/v1/executions/"+run.IDs[0], &execution, func() bool {
		return execution.Status == "SUCCESS"
	})
	require.Equal(t, "7 parcels", execution.Result)
	require.Equal(t, []int{204, 204}, []int{<-reports, <-reports})
	require.Contains(t, []int{401, 409}, <-reports, "what comes after the end is refused")
	var logs struct{ Items []struct{ Line string } }
	s.must(200, http.MethodGet, "/api/v1/executions/"+run.IDs[0]+"/logs", nil, &logs)
	var lines []string
	for _, item := range logs.Items {
		lines = append(lines, item.Line)
	}
	require.Contains(t, lines, "picking")
	require.NotContains(t, lines, "late")
}
