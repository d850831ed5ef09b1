package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var exitOne = 1

func finishedRun() *entity.Execution {
	return &entity.Execution{
		ID: "e1", JobID: "j1", FireKey: "2026-11-20T12:00:00.000Z", ScheduledTime: now, DueTime: now, Trigger: entity.TriggerSchedule, ShardTotal: 1,
		JobVersion: 3, Priority: 5, Status: entity.StatusFailed, Reason: entity.ReasonExitCode, NodeID: "n1", Attempt: 2, RetryCount: 1,
		StartTime: now.Add(7 * time.Millisecond), EndTime: now.Add(time.Second), Duration: 993 * time.Millisecond, Progress: 40,
		ErrorMessage: "exit 1", Result: "r", RootID: "e1", Epoch: 7, Token: 2, Checkpoint: "row 7", ExitCode: &exitOne, CreateTime: now, UpdateTime: now.Add(time.Second),
	}
}

func TestExecutionHasTheContractsNames(t *testing.T) {
	e := newEdge(t)
	e.executions.rows = []*entity.Execution{finishedRun()}
	require.JSONEq(t, `{"id":"e1","jobId":"j1","jobName":"name of j1","fireKey":"2026-11-20T12:00:00.000Z","scheduledTime":"2026-11-20T12:00:00.000Z",
		"trigger":"SCHEDULE","triggeredBy":"schedule","triggeredByToken":null,"detached":false,"deadline":null,"epoch":7,"fencingToken":2,
		"params":null,"checkpoint":"row 7","output":{"exitCode":1,"text":"r"},"shardIndex":0,"shardTotal":1,"status":"FAILED","reason":"EXIT_CODE","waitsFor":"","waitsOn":"","nodeId":"n1","attempt":2,"retryCount":1,"priority":5,
		"startTime":"2026-11-20T12:00:00.007Z","endTime":"2026-11-20T12:00:01.000Z","durationMs":993,"latenessMs":7,"progress":40,"errorMessage":"exit 1",
		"result":"r","retryOf":null,"jobVersion":3,"skipFrom":null,"skipTo":null,"skipCount":0,"createTime":"2026-11-20T12:00:00.000Z",
		"updateTime":"2026-11-20T12:00:01.000Z"}`, e.call("GET", "/api/v1/executions/e1", "").want(200).body)
	e.call("GET", "/api/v1/executions/other", "").wantCode(404, "not_found")

	e.executions.rows = []*entity.Execution{{ID: "e2", JobID: "j1", Trigger: entity.TriggerManual, Status: entity.StatusWaiting, ScheduledTime: now, CreateTime: now, UpdateTime: now}}
	m := e.call("GET", "/api/v1/executions/e2", "").want(200).json()
	require.Nil(t, m["startTime"])
	require.Nil(t, m["durationMs"])
	require.Nil(t, m["latenessMs"])
}

func TestAnExecutionSaysWithWhatAndByWhomItWasTriggered(t *testing.T) {
	e := newEdge(t)
	run := &entity.Execution{ID: "e1", JobID: "j1", Trigger: entity.TriggerManual, Status: entity.StatusWaiting, ScheduledTime: now, CreateTime: now, UpdateTime: now}
	e.executions.rows = []*entity.Execution{run}
	get := func() map[string]any {
		e.t.Helper()
		return e.call("GET", "/api/v1/executions/e1", "").want(200).json()
	}
	run.Params, run.TriggeredBy = `{"day":"2026-03-01"}`, entity.Actor{User: "ann", Token: "ci"}
	m := get()
	require.Equal(t, []any{map[string]any{"day": "2026-03-01"}, "ann", "ci"}, []any{m["params"], m["triggeredBy"], m["triggeredByToken"]})
	list := e.call("GET", "/api/v1/executions", "").want(200).json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, "ann", list["triggeredBy"])
	for _, long := range []string{"params", "checkpoint", "output"} {
		require.NotContains(t, list, long, "a page of 200 is no place for texts of 64 KiB")
	}
	run.TriggeredBy = entity.Actor{}
	require.Empty(t, get()["triggeredBy"], "runs of a former release do not say")
	run.Trigger = entity.TriggerMisfire
	require.Equal(t, "schedule", get()["triggeredBy"])

	run.Status, run.Claim = entity.StatusRunning, entity.DetachedKey(now.Add(time.Minute))
	m = get()
	require.Equal(t, []any{true, "2026-11-20T12:01:00.000Z", "", ""}, []any{m["detached"], m["deadline"], m["nodeId"], m["waitsFor"]})
	run.Claim = entity.RunningKey("n1")
	require.Equal(t, false, get()["detached"])
}

func TestTheOutputOfARunIsJSON(t *testing.T) {
	e := newEdge(t)
	run := finishedRun()
	e.executions.rows = []*entity.Execution{run}
	code := 3
	for _, c := range []struct {
		result string
		code   *int
		want   any
	}{
		{"", nil, nil},
		{`{"rows": 2}`, nil, map[string]any{"rows": 2.0}},
		{"[1, 2]", nil, []any{1.0, 2.0}},
		{"7", nil, 7.0},
		{"7 parcels", nil, map[string]any{"text": "7 parcels"}},
		{`{"rows": 2}`, &code, map[string]any{"exitCode": 3.0, "text": `{"rows": 2}`}},
		{"", &code, map[string]any{"exitCode": 3.0, "text": ""}},
	} {
		run.Result, run.ExitCode = c.result, c.code
		m := e.call("GET", "/api/v1/executions/e1", "").want(200).json()
		require.Equal(t, []any{c.want, c.result}, []any{m["output"], m["result"]})
	}
}

// What waits in the queue of a node says so.
func TestAWaitingRunSaysForWhatAndWhere(t *testing.T) {
	e := newEdge(t)
	for _, c := range []struct {
		claim        entity.ClaimKey
		wait, on, at string
	}{
		{entity.NodeQueue("n7", entity.SlotGeneral).Key(5, now), "SLOT", "n7", "n7"},
		{entity.NodeQueue("n7", entity.SlotCommand).Key(5, now), "SLOT", "n7", "n7"},
		{entity.CommonQueue.Key(5, now), "SLOT", "", ""},
		{entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitHandler).Key(5, now), "HANDLER", "", ""},
		{entity.UnroutableQueue(entity.NodeClass{Command: true}, entity.WaitCommand).Key(5, now), "COMMAND", "", ""},
	} {
		e.executions.rows = []*entity.Execution{{
			ID: "e1", JobID: "j1", Trigger: entity.TriggerManual, Status: entity.StatusWaiting, Claim: c.claim, ScheduledTime: now, CreateTime: now, UpdateTime: now,
		}}
		m := e.call("GET", "/api/v1/executions/e1", "").want(200).json()
		require.Equal(t, []any{c.wait, c.on, c.at}, []any{m["waitsFor"], m["waitsOn"], m["nodeId"]}, c.claim)
	}
}

func TestListExecutions(t *testing.T) {
	e := newEdge(t)
	e.executions.rows = []*entity.Execution{finishedRun(), finishedRun()}
	e.executions.next = "c2"
	m := e.call("GET", "/api/v1/executions?jobId=j1&status=DEAD&nodeId=n1&trigger=MISFIRE&from=2026-11-20T00:00:00%2B08:00&to=2026-11-20T00:00:00Z&limit=200&cursor=c1", "").want(200).json()
	require.Equal(t, "c2", m["nextCursor"])
	require.Len(t, m["items"], 2)
	require.Equal(t, repository.ExecutionFilter{
		JobID: "j1", NodeID: "n1", Status: entity.StatusDead, Trigger: entity.TriggerMisfire,
		From: time.Date(2026, 11, 19, 16, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
	}, e.executions.filter)
	require.Equal(t, repository.Page{Limit: 200, Cursor: "c1"}, e.executions.page)
	require.Equal(t, []string{"j1"}, e.executions.names, "each name is asked for once")
	e.call("GET", "/api/v1/executions?from=2026-11-20T00:00:00+08:00", "").want(200) // a plus that was not escaped
	e.call("GET", "/api/v1/executions?waitsFor=HANDLER", "").want(200)
	require.Equal(t, repository.ExecutionFilter{WaitsFor: entity.WaitHandler}, e.executions.filter)
	for _, never := range []string{"CALENDAR", "EVENT", "DEPENDENCY"} { // nothing makes such runs
		e.call("GET", "/api/v1/executions?trigger="+never, "").wantField(422, "trigger", "unknown_value")
	}
}

func TestCancelRetryReplay(t *testing.T) {
	e := newEdge(t)
	e.call("POST", "/api/v1/executions/e1/cancel", "").want(202)
	require.Equal(t, "retry-1", e.call("POST", "/api/v1/executions/e1/retry", "").want(202).json()["executionId"])
	require.Equal(t, []any{"replay-2-of-e1"}, e.call("POST", "/api/v1/dead-letters/e1/replay", "").want(202).json()["executionIds"])
	require.Equal(t, "admin", e.executions.by.User)
	e.executions.by = entity.Actor{}
	e.call("POST", "/api/v1/bulk/executions/retry", `{"ids":["e1"]}`, "Authorization", "Bearer "+operatorToken).want(200)
	require.Equal(t, "operator", e.executions.by.User)
	e.call("POST", "/api/v1/jobs/j1/trigger", `{}`).want(202)
	require.Equal(t, "admin", e.jobs.trigger.By.User)
	e.executions.err = apperror.Conflict("final", "the run is over")
	for _, path := range []string{"executions/e1/cancel", "executions/e1/retry", "dead-letters/e1/replay"} {
		e.call("POST", "/api/v1/"+path, "").wantCode(409, "final")
	}
}

func TestAttemptsAndDeadLetters(t *testing.T) {
	e := newEdge(t)
	e.executions.attempts = []entity.Attempt{{Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonError, NodeID: "n", StartTime: now, EndTime: now.Add(time.Second), ErrorMessage: "x", Progress: 30, ExitCode: &exitOne}}
	require.JSONEq(t, `{"items":[{"attempt":1,"status":"FAILED","reason":"ERROR","nodeId":"n","startTime":"2026-11-20T12:00:00.000Z","endTime":"2026-11-20T12:00:01.000Z","errorMessage":"x","result":"","progress":30,"output":{"exitCode":1,"text":""}}],
		"nextCursor":null}`, e.call("GET", "/api/v1/executions/e1/attempts", "").want(200).body)

	e.executions.letters = []entity.DeadLetter{{ExecutionID: "e1", JobID: "j1", Reason: entity.ReasonError, Message: "m", CreateTime: now}}
	require.JSONEq(t, `{"items":[{"id":"e1","executionId":"e1","jobId":"j1","jobName":"name of j1","reason":"ERROR","message":"m","replayedAs":null,
		"createTime":"2026-11-20T12:00:00.000Z"}],"nextCursor":null}`, e.call("GET", "/api/v1/dead-letters?jobId=j1", "").want(200).body)
	require.Equal(t, "j1", e.executions.letterFilter.JobID)
}

func TestTheLedger(t *testing.T) {
	e := newEdge(t)
	e.executions.fires = []execution.LedgerEntry{
		{FireKey: "k", ScheduledTime: now, Outcome: "SUCCESS", LatenessMs: 3, ExecutionIDs: []string{"e1"}, Replays: []string{"e2"}},
		{FireKey: "range:k", ScheduledTime: now, Outcome: "SKIPPED", Reason: entity.ReasonPaused, Message: "paused by anna", RangeEnd: now.Add(time.Minute), Count: 60, CountAtLeast: true},
		{FireKey: "p", ScheduledTime: now, Outcome: "WAITING", WaitsFor: entity.WaitNode},
	}
	a := e.call("GET", "/api/v1/jobs/j1/fires?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=3", "").want(200)
	require.JSONEq(t, `{"nextCursor":null,"items":[
		{"fireKey":"k","scheduledTime":"2026-11-20T12:00:00.000Z","outcome":"SUCCESS","waitsFor":"","reason":"","message":"","latenessMs":3,"executionIds":["e1"],"replays":["e2"],"rangeEnd":null,"count":null,"countAtLeast":false},
		{"fireKey":"range:k","scheduledTime":"2026-11-20T12:00:00.000Z","outcome":"SKIPPED","waitsFor":"","reason":"PAUSED","message":"paused by anna","latenessMs":0,"executionIds":[],"replays":[],
			"rangeEnd":"2026-11-20T12:01:00.000Z","count":60,"countAtLeast":true},
		{"fireKey":"p","scheduledTime":"2026-11-20T12:00:00.000Z","outcome":"WAITING","waitsFor":"NODE","reason":"","message":"","latenessMs":0,"executionIds":[],"replays":[],"rangeEnd":null,"count":null,"countAtLeast":false}
		]}`, a.body)
	require.Equal(t, execution.LedgerQuery{
		JobID: "j1", From: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Limit: 3,
	}, e.executions.ledger)
}

func (e *edge) lines(query string) (seqs []int, next any, truncated bool) {
	e.t.Helper()
	m := e.call("GET", "/api/v1/executions/e1/logs?"+query, "").want(200).json()
	for _, item := range m["items"].([]any) {
		line := item.(map[string]any)
		seq := int(line["seq"].(float64))
		require.Equal(e.t, fmt.Sprint("line ", seq), line["line"])
		seqs = append(seqs, seq)
	}
	return seqs, m["nextCursor"], m["truncated"].(bool)
}

func TestLogsAreLinesInOrder(t *testing.T) {
	e := newEdge(t)
	e.executions.chunks = []entity.LogChunk{
		{SeqFrom: 1, SeqTo: 3, Content: "line 1\nline 2\nline 3", Type: entity.LogStdout, Attempt: 1, CreateTime: now},
		{SeqFrom: 4, SeqTo: 4, Content: "line 4", Type: entity.LogStderr, Attempt: 1, CreateTime: now},
		{SeqFrom: 5, SeqTo: 7, Content: "line 5\nline 6\nline 7", Type: entity.LogStdout, Attempt: 2, CreateTime: now, Truncated: true},
	}
	seqs, next, truncated := e.lines("")
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, seqs)
	require.Nil(t, next)
	require.True(t, truncated)

	var all []int
	cursor := ""
	for range 10 {
		seqs, next, _ = e.lines("limit=2&cursor=" + cursor)
		require.LessOrEqual(t, len(seqs), 2)
		all = append(all, seqs...)
		if next == nil {
			break
		}
		cursor = next.(string)
	}
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, all)

	seqs, next, _ = e.lines("cursor=7") // a follower asks again where it stands
	require.Empty(t, seqs)
	require.Nil(t, next)
	for _, bad := range []string{"x", "-1", "1.5", "99999999999999999999"} {
		e.call("GET", "/api/v1/executions/e1/logs?cursor="+bad, "").wantField(422, "cursor", "invalid_cursor")
	}
	first := e.call("GET", "/api/v1/executions/e1/logs?limit=1", "").want(200)
	require.JSONEq(t, `{"items":[{"seq":1,"time":"2026-11-20T12:00:00.000Z","stream":"STDOUT","line":"line 1","attempt":1}],"nextCursor":"1","truncated":false}`, first.body)
}
