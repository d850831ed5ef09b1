package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

var exitOne = 1

func finishedRun(jobID string) entity.Execution {
	return entity.Execution{
		ID: "e1", JobID: jobID, FireKey: "2026-11-20T12:00:00.000Z", ScheduledTime: now, DueTime: now,
		Trigger: entity.TriggerSchedule, ShardTotal: 1,
		JobVersion: 3, Priority: 5, Status: entity.StatusFailed, Reason: entity.ReasonExitCode, NodeID: "n1", Attempt: 2,
		RetryCount: 1,
		StartTime:  now.Add(7 * time.Millisecond), EndTime: now.Add(time.Second), Duration: 993 * time.Millisecond,
		Progress:     40,
		ErrorMessage: "exit 1", Result: "r", RootID: "e1", Epoch: 7, Token: 2, Checkpoint: "row 7", ExitCode: &exitOne,
		CreateTime: now.Add(-time.Second), UpdateTime: now,
	}
}

func TestExecutionHasTheContractsNames(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	e.put(finishedRun(job))
	require.JSONEq(t, `{"id":"e1","jobId":"`+job+
		`","jobName":"settle orders","fireKey":"2026-11-20T12:00:00.000Z","scheduledTime":"2026-11-20T12:00:00.000Z",
		"trigger":"SCHEDULE","triggeredBy":"schedule","triggeredByToken":null,"detached":false,"deadline":null,"epoch":7,"fencingToken":2,
		"params":null,"checkpoint":"row 7","output":{"exitCode":1,"text":"r"},"usage":null,"shardIndex":0,"shardTotal":1,"status":"FAILED","reason":"EXIT_CODE","waitsFor":"","waitsOn":"","nodeId":"n1","attempt":2,"retryCount":1,"priority":5,
		"startTime":"2026-11-20T12:00:00.007Z","endTime":"2026-11-20T12:00:01.000Z","durationMs":993,"latenessMs":7,"progress":40,"errorMessage":"exit 1",
		"result":"r","retryOf":null,"startedBy":null,"started":[],"jobVersion":3,"skipFrom":null,"skipTo":null,"skipCount":0,"createTime":"2026-11-20T11:59:59.000Z",
		"updateTime":"2026-11-20T12:00:00.000Z"}`, e.call("GET", "/api/v1/executions/e1", "").want(200).body)
	e.call("GET", "/api/v1/executions/other", "").wantCode(404, "not_found")

	e.put(waiting("e2", job))
	m := e.call("GET", "/api/v1/executions/e2", "").want(200).json()
	require.Nil(t, m["startTime"])
	require.Nil(t, m["durationMs"])
	require.Nil(t, m["latenessMs"])
}

func TestAnExecutionSaysWithWhatAndByWhomItWasTriggered(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	run := waiting("", job)
	get := func() map[string]any {
		e.t.Helper()
		run.ID += "e"
		run.FireKey = run.ID
		e.put(run)
		return e.call("GET", "/api/v1/executions/"+run.ID, "").want(200).json()
	}
	run.Params, run.TriggeredBy = `{"day":"2026-03-01"}`, entity.Actor{User: "ann", Token: "ci"}
	m := get()
	require.Equal(t, []any{map[string]any{"day": "2026-03-01"}, "ann", "ci"},
		[]any{m["params"], m["triggeredBy"], m["triggeredByToken"]})
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
	require.Equal(t, []any{true, "2026-11-20T12:01:00.000Z", "", ""}, []any{
		m["detached"], m["deadline"], m["nodeId"],
		m["waitsFor"],
	})
	run.Claim = entity.RunningKey("n1")
	require.Equal(t, false, get()["detached"])
}

func TestTheOutputOfARunIsJSON(t *testing.T) {
	e := newEdge(t)
	run := finishedRun(e.create(encode(t, minimal()))["id"].(string))
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
		run.ID += "e"
		run.FireKey = run.ID
		run.Result, run.ExitCode = c.result, c.code
		e.put(run)
		m := e.call("GET", "/api/v1/executions/"+run.ID, "").want(200).json()
		require.Equal(t, []any{c.want, c.result}, []any{m["output"], m["result"]})
	}
}

// waiting is an execution of a job that was triggered and waits.
func waiting(id, jobID string) entity.Execution {
	return entity.Execution{
		ID: id, JobID: jobID, FireKey: id, Trigger: entity.TriggerManual, Status: entity.StatusWaiting, ShardTotal: 1,
		JobVersion: 1, Priority: 5,
		ScheduledTime: now, DueTime: now, CreateTime: now, UpdateTime: now,
	}
}

// A run in the queue of a node says so.
func TestAWaitingRunSaysForWhatAndWhere(t *testing.T) {
	e := newEdge(t)
	run := waiting("", e.create(encode(t, minimal()))["id"].(string))
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
		run.ID += "e"
		run.FireKey, run.Claim = run.ID, c.claim
		e.put(run)
		m := e.call("GET", "/api/v1/executions/"+run.ID, "").want(200).json()
		require.Equal(t, []any{c.wait, c.on, c.at}, []any{m["waitsFor"], m["waitsOn"], m["nodeId"]}, c.claim)
	}
}

func TestListExecutions(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	other := e.create(encode(t, minimal().with(fields{"name": "other"})))["id"].(string)
	// The moment of an execution stands in its id.
	at := idAt
	list := func(query string) (ids []any, next any) {
		t.Helper()
		m := e.call("GET", "/api/v1/executions?"+query, "").want(200).json()
		for _, item := range m["items"].([]any) {
			require.Contains(t, []any{"settle orders", "other"}, item.(map[string]any)["jobName"])
			ids = append(ids, item.(map[string]any)["id"])
		}
		return ids, m["nextCursor"]
	}
	wanted := func(id string) entity.Execution {
		x := dead(id, job)
		x.NodeID, x.Trigger = "n1", entity.TriggerMisfire
		return x
	}
	var ids []any
	for i := range 3 {
		id := at(now.Add(-13*time.Hour), i)
		ids = append([]any{id}, ids...)
		e.put(wanted(id))
	}
	for i, change := range []func(x *entity.Execution){
		func(x *entity.Execution) { x.JobID = other }, func(x *entity.Execution) { x.Status = entity.StatusFailed },
		func(x *entity.Execution) { x.NodeID = "n2" }, func(x *entity.Execution) { x.Trigger = entity.TriggerManual },
	} {
		x := wanted(at(now.Add(-13*time.Hour), 10+i))
		change(&x)
		e.put(x)
	}
	e.put(wanted(at(time.Date(2026, 11, 19, 15, 59, 59, 0, time.UTC), 20)))
	e.put(wanted(at(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), 21)))
	query := "jobId=" + job +
		"&status=DEAD&nodeId=n1&trigger=MISFIRE&from=2026-11-20T00:00:00%2B08:00&to=2026-11-20T00:00:00Z"
	got, next := list(query + "&limit=200")
	require.Equal(t, ids, got)
	require.Nil(t, next)
	got, next = list(query + "&limit=2")
	require.Equal(t, ids[:2], got)
	got, next = list(query + "&limit=2&cursor=" + next.(string))
	require.Equal(t, ids[2:], got)
	require.Nil(t, next)

	e.call("GET", "/api/v1/executions?from=2026-11-20T00:00:00+08:00", "").want(200) // a plus that was not escaped
	unroutable := waiting(at(now, 30), job)
	unroutable.Claim = entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitHandler).Key(5, now)
	e.put(unroutable)
	slot := waiting(at(now, 31), job)
	slot.Claim = entity.CommonQueue.Key(5, now)
	e.put(slot)
	got, _ = list("waitsFor=HANDLER")
	require.Equal(t, []any{unroutable.ID}, got)
	for _, never := range []string{"CALENDAR", "EVENT"} { // nothing makes such runs
		e.call("GET", "/api/v1/executions?trigger="+never, "").wantField(422, "trigger", "unknown_value")
	}
}

// idAt is the id of an execution that belongs to a moment.
func idAt(moment time.Time, n int) string {
	return identity.FloorID(moment)[:24] + fmt.Sprintf("%012d", n)
}

func TestCancelRetryReplay(t *testing.T) {
	e := newEdge(t)
	job := e.deadRuns("e1", "e2", "e3")
	e.put(waiting("w", job))
	e.call("POST", "/api/v1/executions/w/cancel", "").want(202)
	require.Equal(t, entity.StatusCancelled, e.Execution(t, "w").Status)
	by := func(id string) string { return e.Execution(t, id).TriggeredBy.User }
	retry := e.call("POST", "/api/v1/executions/e1/retry", "").want(202).json()["executionId"].(string)
	require.Equal(t, []any{"e1", "admin"}, []any{e.Execution(t, retry).RetryOf, by(retry)})
	replay := e.call("POST", "/api/v1/dead-letters/e3/replay", "").want(202).json()["executionIds"].([]any)
	require.Len(t, replay, 1)
	require.Equal(t, []any{"e3", "admin"}, []any{e.Execution(t, replay[0].(string)).RetryOf, by(replay[0].(string))})
	again := e.call("POST", "/api/v1/bulk/executions/retry", `{"ids":["e2"]}`, as(operatorToken)...).want(200).
		json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, "operator", by(again["executionIds"].([]any)[0].(string)))
	fired := e.call("POST", "/api/v1/jobs/"+job+"/trigger", `{}`).want(202).json()["executionIds"].([]any)
	require.Equal(t, "admin", by(fired[0].(string)))
	for path, code := range map[string]string{
		"executions/e2/cancel":           "already_final",
		"executions/" + retry + "/retry": "not_final", "dead-letters/e3/replay": "already_replayed",
		// a run that was run again waits for nobody
		"dead-letters/e1/replay": "already_replayed", "dead-letters/e2/replay": "already_replayed",
	} {
		e.call("POST", "/api/v1/"+path, "").wantCode(409, code)
	}
}

func TestAttemptsAndDeadLetters(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	e.put(waiting("e1", job))
	e.keep(func(ctx context.Context, r repository.RecordWriter) error {
		took := entity.AttemptUsage{ExecutionID: "e1", Attempt: 1, Usage: entity.Usage{CPUMs: 1200, PeakKb: 35 << 10}}
		if err := r.AddUsages(ctx, []entity.AttemptUsage{took}); err != nil {
			return err
		}
		return r.AddAttempts(ctx, []entity.Attempt{{
			ExecutionID: "e1", Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonError, NodeID: "n", StartTime: now,
			EndTime: now.Add(time.Second), ErrorMessage: "x", Progress: 30, ExitCode: &exitOne,
		}})
	})
	require.JSONEq(t, `{"items":[{"attempt":1,"status":"FAILED","reason":"ERROR","nodeId":"n","startTime":"2026-11-20T12:00:00.000Z","endTime":"2026-11-20T12:00:01.000Z","errorMessage":"x","result":"","progress":30,"output":{"exitCode":1,"text":""},"usage":{"cpuMs":1200,"peakKb":35840}}],
		"nextCursor":null}`, e.call("GET", "/api/v1/executions/e1/attempts", "").want(200).body)

	e.deadRuns("other")
	e.keep(func(ctx context.Context, r repository.RecordWriter) error {
		return r.AddDeadLetters(ctx,
			[]entity.DeadLetter{{ExecutionID: "e1", JobID: job, Reason: entity.ReasonError, Message: "m", CreateTime: now}})
	})
	require.JSONEq(t, `{"items":[{"id":"e1","executionId":"e1","jobId":"`+job+
		`","jobName":"settle orders","reason":"ERROR","message":"m","replayedAs":null,
		"createTime":"2026-11-20T12:00:00.000Z"}],"nextCursor":null}`, e.call("GET", "/api/v1/dead-letters?jobId="+job, "").
		want(200).body)
}

func TestTheLedger(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	fire := func(id, key string, at time.Time, change func(x *entity.Execution)) {
		x := dead(id, job)
		x.FireKey, x.ScheduledTime, x.DueTime, x.Trigger = key, at, at, entity.TriggerSchedule
		change(&x)
		e.put(x)
	}
	first, second, third := now, now.Add(-time.Hour), now.Add(-2*time.Hour)
	success, replay, rest, waits := idAt(first, 1), idAt(now.Add(time.Minute), 2), idAt(second, 3), idAt(third, 4)
	fire(success, identity.FireKey(first), first, func(x *entity.Execution) {
		x.Status, x.Reason, x.StartTime = entity.StatusSuccess, "", first.Add(3*time.Millisecond)
	})
	fire(replay, "replay", first, func(x *entity.Execution) {
		x.Status, x.Reason, x.Trigger, x.RetryOf, x.RootID = entity.StatusSuccess, "", entity.TriggerRetry, success, success
	})
	fire(rest, identity.RangeKey(second), second, func(x *entity.Execution) {
		x.Status, x.Reason, x.StartTime, x.ErrorMessage = entity.StatusSkipped, entity.ReasonPaused, time.Time{},
			"paused by anna"
		x.SkipFrom, x.SkipTo, x.SkipCount, x.SkipAtLeast = second, second.Add(time.Minute), 60, true
	})
	fire(waits, identity.FireKey(third), third, func(x *entity.Execution) {
		x.Status, x.Reason, x.StartTime, x.EndTime, x.Claim = entity.StatusWaiting, "", time.Time{}, time.Time{},
			entity.UnroutableQueue(entity.NodeClass{}, entity.WaitNode).Key(5, third)
	})
	a := e.call("GET", "/api/v1/jobs/"+job+"/fires?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=3", "").
		want(200)
	require.JSONEq(t, `{"nextCursor":null,"items":[
		{"fireKey":"`+identity.FireKey(first)+
		`","scheduledTime":"2026-11-20T12:00:00.000Z","outcome":"SUCCESS","waitsFor":"","reason":"","message":"","latenessMs":3,"executionIds":["`+success+`"],"replays":["`+replay+`"],"rangeEnd":null,"count":null,"countAtLeast":false,"startedBy":null},
		{"fireKey":"`+identity.RangeKey(second)+
		`","scheduledTime":"2026-11-20T11:00:00.000Z","outcome":"SKIPPED","waitsFor":"","reason":"PAUSED","message":"paused by anna","latenessMs":0,"executionIds":["`+rest+`"],"replays":[],
			"rangeEnd":"2026-11-20T11:01:00.000Z","count":60,"countAtLeast":true,"startedBy":null},
		{"fireKey":"`+identity.FireKey(third)+
		`","scheduledTime":"2026-11-20T10:00:00.000Z","outcome":"WAITING","waitsFor":"NODE","reason":"","message":"","latenessMs":0,"executionIds":["`+waits+`"],"replays":[],"rangeEnd":null,"count":null,"countAtLeast":false,"startedBy":null}
		]}`, a.body)
	path := "/api/v1/jobs/" + job + "/fires?from=2026-11-20T00:00:00Z&to=2026-11-20T12:00:00Z&limit=1"
	page := e.call("GET", path, "").want(200).json()
	require.Equal(t, identity.RangeKey(second), page["items"].([]any)[0].(map[string]any)["fireKey"],
		"what is at the end is not in it")
	page = e.call("GET", path+"&cursor="+page["nextCursor"].(string), "").want(200).json()
	require.Equal(t, identity.FireKey(third), page["items"].([]any)[0].(map[string]any)["fireKey"])
	require.Len(t, page["items"], 1)
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

// logs adds to the log of an execution.
func (e *edge) logs(id, jobID string, chunks ...entity.LogChunk) {
	e.t.Helper()
	for i := range chunks {
		chunks[i].ID, chunks[i].ExecutionID, chunks[i].JobID = fmt.Sprint(id, "-", chunks[i].SeqFrom), id, jobID
	}
	e.keep(func(ctx context.Context, r repository.RecordWriter) error { return r.AddLogs(ctx, chunks) })
}

func TestLogsAreLinesInOrder(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	e.put(waiting("e1", job))
	chunks := []entity.LogChunk{
		{SeqFrom: 1, SeqTo: 3, Content: "line 1\nline 2\nline 3", Type: entity.LogStdout, Attempt: 1, CreateTime: now},
		{SeqFrom: 4, SeqTo: 4, Content: "line 4", Type: entity.LogStderr, Attempt: 1, CreateTime: now},
		{
			SeqFrom: 5, SeqTo: 7, Content: "line 5\nline 6\nline 7", Type: entity.LogStdout, Attempt: 2, CreateTime: now,
			Truncated: true,
		},
	}
	e.logs("e1", job, chunks...)
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
