package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atOnce bounds what a question may cost that anyone may ask.
const atOnce = 15 * time.Second

func (r *rig) asked(want int, method, path string, body, answer any) {
	r.t.Helper()
	began := time.Now()
	r.must(want, method, path, body, answer)
	require.Less(r.t, time.Since(began), atOnce, "%s %v", path, body)
}

// farTimesAreAnsweredAtOnce: no moment that can be written makes the server
// count its way there.
func farTimesAreAnsweredAtOnce(t *testing.T, r *rig) {
	for name, schedule := range map[string]map[string]any{
		"every second":       {"kind": "CRON", "cronExpression": "* * * * * ?", "startTime": "2199-01-01T00:00:00Z"},
		"every day":          {"kind": "CRON", "cronExpression": "0 0 0 * * ?", "timeZone": "America/New_York"},
		"leap days":          {"kind": "CRON", "cronExpression": "0 0 0 29 2 ?"},
		"leap Mondays":       {"kind": "CRON", "dialect": "UNIX", "cronExpression": "0 0 29 2 *"},
		"ten times a second": {"kind": "FIXED_RATE", "intervalMs": 100, "startTime": "2199-01-01T00:00:00Z"},
		"from the beginning": {"kind": "FIXED_RATE", "intervalMs": 86_400_000, "startTime": "1970-01-01T00:00:00Z"},
		"far away":           {"kind": "ONCE", "at": "2199-12-31T23:59:59.999Z", "jitterMs": 86_400_000},
		"after its end":      {"kind": "FIXED_DELAY", "intervalMs": 316_224_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := r.on(t)
			for _, from := range []string{"1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2150-01-01T00:00:00Z"} {
				r.asked(200, http.MethodPost, "/api/v1/schedules/preview", map[string]any{
					"schedule": schedule, "from": from,
					"count": 1000,
				}, nil)
			}
			var job struct{ ID string }
			r.asked(201, http.MethodPost, "/api/v1/jobs", map[string]any{
				"name": name, "jobType": "CUSTOM", "jobClass": "noop",
				"schedule": schedule,
			}, &job)
			path := "/api/v1/jobs/" + job.ID
			r.asked(200, http.MethodGet, path+"/next-fire-times?count=1000", nil, nil)
			for _, span := range []string{
				"", "&from=1970-01-01T00:00:00Z", "&to=9999-12-31T23:59:59.999Z",
				"&from=2199-12-31T00:00:00Z&to=9999-12-31T23:59:59Z", "&from=9999-01-01T00:00:00Z&to=9999-12-31T23:59:59Z",
			} {
				r.asked(200, http.MethodGet, path+"/fires?limit=200"+span, nil, nil)
			}
			var last struct {
				Items []struct{ FireKey, Outcome string }
			}
			r.asked(200, http.MethodGet, path+"/fires?from=2199-12-31T00:00:00Z&to=2200-01-01T00:00:00Z", nil, &last)
			if name == "every second" || name == "ten times a second" {
				require.Len(t, last.Items, 10)
				require.Equal(t, "2199-12-31T00:00:00.000Z", last.Items[9].FireKey, "the first of the span is not missed")
			}
			r.asked(204, http.MethodDelete, path, nil, nil)
		})
	}
}

// theLedgerIsReadPageByPage: the cursor that a page ends with leads on.
func theLedgerIsReadPageByPage(t *testing.T, r *rig) {
	var job struct{ ID string }
	r.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "often", "jobType": "CUSTOM", "jobClass": "noop", "schedule": map[string]any{
			"kind":       "FIXED_RATE",
			"intervalMs": 100,
		},
	}, &job)
	path := "/api/v1/jobs/" + job.ID
	type page struct {
		Items      []struct{ FireKey, Outcome string }
		NextCursor string
	}
	var all page
	r.await("some fires", "/api/v1/executions?status=SUCCESS&jobId="+job.ID, &all, func() bool {
		return len(all.Items) >= 5
	})
	r.must(200, http.MethodPost, path+"/pause", nil, nil)
	r.must(200, http.MethodGet, path+"/fires?limit=200", nil, &all)
	var walked []string
	for cursor := ""; ; {
		var p page
		r.must(200, http.MethodGet, path+"/fires?limit=2&cursor="+cursor, nil, &p)
		for _, item := range p.Items {
			walked = append(walked, item.FireKey)
		}
		if cursor = p.NextCursor; cursor == "" {
			break
		}
		require.Less(t, len(walked), 1000)
	}
	want := make([]string, len(all.Items))
	for i, item := range all.Items {
		want[i] = item.FireKey
	}
	require.Equal(t, want, walked)
}
