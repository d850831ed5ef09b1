package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const failuresPath = "/api/v1/monitor/failures"

// Failures are counted by cause, in the span and of the groups that one sees.
func TestFailuresAreCountedByCause(t *testing.T) {
	e := newEdge(t)
	seen := e.create(encode(t, minimal().with(fields{"name": "seen", "group": "mine"})))["id"].(string)
	unseen := e.create(encode(t, minimal().with(fields{"name": "unseen", "group": "theirs"})))["id"].(string)
	n := 0
	put := func(at time.Time, job string, status entity.Status, reason entity.Reason) (id string) {
		n++
		x := dead(idAt(at, n), job)
		x.FireKey, x.Status, x.Reason, x.EndTime, x.ErrorMessage = fmt.Sprint(n), status, reason, at,
			fmt.Sprint("message ", n)
		e.put(x)
		return x.ID
	}
	put(now.Add(-25*time.Hour), seen, entity.StatusFailed, entity.ReasonExitCode)
	put(now.Add(-3*time.Hour), seen, entity.StatusDead, entity.ReasonExitCode)
	put(now.Add(-2*time.Hour), unseen, entity.StatusFailed, entity.ReasonExitCode)
	put(now.Add(-2*time.Hour), seen, entity.StatusSuccess, "")
	last := put(now.Add(-time.Hour), seen, entity.StatusFailed, entity.ReasonExitCode)
	late := put(now.Add(-time.Hour), unseen, entity.StatusTimeout, entity.ReasonTimeout)

	require.JSONEq(t, fmt.Sprintf(
		`{"from":"2026-11-19T12:00:00.001Z","to":"2026-11-20T12:00:00.001Z","complete":true,"items":[
		{"reason":"EXIT_CODE","count":3,"jobCount":2,"jobs":[{"jobId":%q,"jobName":"seen","count":2},
			{"jobId":%q,"jobName":"unseen","count":1}],
			"lastExecutionId":%q,"lastTime":"2026-11-20T11:00:00.000Z","message":"message 5"},
		{"reason":"TIMEOUT","count":1,"jobCount":1,"jobs":[{"jobId":%q,"jobName":"unseen","count":1}],
			"lastExecutionId":%q,"lastTime":"2026-11-20T11:00:00.000Z","message":"message 6"}]}`,
		seen, unseen, last, unseen, late), e.call("GET", failuresPath, "").want(200).body)

	var bound struct {
		Items []struct{ Count, JobCount int }
	}
	text := e.call("GET", failuresPath, "", as(boundToken)...).want(200).body
	require.NotContains(t, text, unseen)
	require.NoError(t, json.Unmarshal([]byte(text), &bound))
	require.Equal(t, []struct{ Count, JobCount int }{{2, 1}}, bound.Items)

	of := func(group string, as ...string) any {
		return e.call("GET", failuresPath+"?group="+group, "", as...).want(200).json()["items"]
	}
	require.Len(t, of("mine"), 1)
	require.Len(t, of("theirs"), 2)
	require.Empty(t, of("nobodys"))

	require.Len(t, e.call("GET", failuresPath+"?from=2026-11-20T10:30:00Z", "").want(200).json()["items"], 2)
	require.Empty(t, e.call("GET", failuresPath+"?from=2026-11-20T11:30:00Z", "").want(200).json()["items"])
	e.call("GET", failuresPath+"?from=2026-11-20T11:30:00Z&to=2026-11-20T10:30:00Z", "").wantField(422, "to", "")
	e.call("GET", failuresPath+"?from=2026-11-20T12:30:00Z", "").wantField(422, "from", "out_of_order")

	filter := repository.FailureFilter{From: now.Add(-24 * time.Hour)}
	found, complete, err := e.Store.Executions.Failures(t.Context(), filter, 2)
	require.NoError(t, err)
	require.False(t, complete, "there are more than it may find")
	require.Equal(t, []string{late, last}, []string{found[0].ExecutionID, found[1].ExecutionID}, "the newest first")
	e.call("GET", failuresPath+"?from=noon", "").wantField(422, "from", "")
	e.call("GET", failuresPath+"?x=1", "").want(422)
	e.call("GET", failuresPath, "", as(apiToken)...).want(403)
}

// Today is compared with the same hours of the days before, of which hours are kept.
func TestTodayIsComparedWithTheDaysBefore(t *testing.T) {
	const path = "/api/v1/monitor/today"
	e := newEdge(t)
	jobID := e.create(encode(t, minimal().with(fields{"name": "a", "group": "mine"})))["id"].(string)
	job, err := e.Store.Jobs.Get(t.Context(), jobID)
	require.NoError(t, err)
	require.JSONEq(t, `{"asOf":"2026-11-20T12:00:00.000Z","from":"2026-11-20T00:00:00.000Z","to":"2026-11-20T12:00:00.000Z",
		"timeZone":"UTC","today":{"runs":0,"failures":0,"p95Ms":null},"usual":null,"days":0}`,
		e.call("GET", path, "").want(200).body)

	fold := foldOf(e)
	end := func(after time.Duration, n int) {
		e.Clock.Advance(after)
		ended(t, e, job, n)
		e.Clock.Advance(time.Minute)
		_, err := fold.RunOnce(t.Context())
		require.NoError(t, err)
	}
	end(0, 10)                        // on the first day at noon
	end(6*time.Hour, 50)              // in the evening: it is later than now
	end(18*time.Hour, 20)             // on the second day at noon
	end(24*time.Hour, 5)              // on the third day
	e.Clock.Advance(28 * time.Minute) // half of the hour is over: 12:31 and a bit
	m := e.call("GET", path, "").want(200).json()
	today, usual := m["today"].(map[string]any), m["usual"].(map[string]any)
	require.EqualValues(t, 2, m["days"])
	require.Equal(t, []any{5.0, 1.0}, []any{today["runs"], today["failures"]})
	share := e.Time.Now().Sub(e.Time.Now().Truncate(time.Hour)).Hours()
	require.InDelta(t, 15*share, usual["runs"], 0.001)
	require.InDelta(t, 3*share, usual["failures"], 0.001)
	require.InDelta(t, 2000, usual["p95Ms"], 100)
	require.Equal(t, m["today"], e.call("GET", path+"?group=mine", "", as(boundToken)...).want(200).json()["today"])
	hidden := e.call("GET", path+"?group=mine", "", e.narrow("none")...).want(200).json()
	require.EqualValues(t, 0, hidden["today"].(map[string]any)["runs"])
	e.call("GET", path+"?timeZone=Nowhere", "").wantField(422, "timeZone", "")
}
