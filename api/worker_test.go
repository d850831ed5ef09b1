package api_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/apitest"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

const (
	workers      = "/api/v1/workers"
	workerGroups = "/api/v1/worker-groups"
)

// workerGroup makes a worker group for the jobs of a group, and a token of it.
func (e *edge) workerGroup(name string, jobGroups ...string) (token string) {
	e.t.Helper()
	e.call("PUT", workerGroups+"/"+name, encode(e.t, fields{"jobGroups": jobGroups})).want(201)
	a := e.call("POST", workerGroups+"/"+name+"/tokens", `{"name":"deploy","expiresAt":"2026-12-20T12:00:00Z"}`).want(201)
	return a.json()["token"].(string)
}

// register begins the life of a worker.
func (e *edge) register(token, group, instance string) (id string) {
	e.t.Helper()
	body := fields{"protocol": 1, "group": group, "instance": instance, "bootId": "boot-1", "handlers": []string{"settle"}}
	return e.call("POST", workers, encode(e.t, body), as(token)...).want(201).json()["workerId"].(string)
}

func TestAWorkerRegistersPollsReportsAndLeaves(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	a := e.call("POST", workers, `{"protocol":1,"group":"shop","instance":"a","bootId":"b","later":{"x":[1]}}`,
		as(token)...).want(201)
	id := entityworker.ID("shop", "a")
	require.Equal(t, map[string]any{
		"workerId": id, "epoch": 1.0, "protocol": 1.0, "beatMs": 5000.0, "leaseMs": 20000.0, "waitMs": 5000.0, "maxRuns": 500.0,
		"maxItems": 500.0,
	}, a.json())

	run := entity.Run{
		Job: &entity.Job{
			ID: "j", Name: "settle orders", Group: "mine", Owner: "ann", Type: entity.JobCustom, Class: "settle",
		},
		Execution: &entity.Execution{
			ID: "x", JobID: "j", Token: 7, Attempt: 2, ScheduledTime: now, ShardTotal: 1, Params: `{"day":1}`, Checkpoint: "c",
		},
		Secrets: map[string]string{"key": "value"},
	}
	attempt := delivery.Attempt{Execution: "x", Token: 7}
	e.Gateway.Answer = gateway.Answer{
		Answer: delivery.Answer{
			LeaseSeq: 1, Lease: 20 * time.Second, Cancel: []delivery.Stop{{Attempt: attempt, Reason: delivery.StopLost}},
		},
		Deliveries: []gateway.Delivery{{
			Run: run, Data: `{"a":1}`, Timeout: time.Minute,
		}},
		Drain: true, Beat: 7 * time.Second, RetryAfter: 3 * time.Second,
	}
	a = e.call("POST", workers+"/"+id+"/poll",
		`{"epoch":1,"seq":3,"ack":2,"free":4,"freeCommands":1,"running":["y:5"],"stopping":true,"waitMs":7,"later":1}`,
		as(token)...).want(200)
	require.JSONEq(t, `{"seq":3,"leaseSeq":1,"leaseMs":20000,"drain":true,"hold":false,"beatMs":7000,"waitMs":7000,"retryAfterMs":3000,
		"cancel":[{"executionId":"x","token":7,"reason":"lost"}],
		"runs":[{"executionId":"x","token":7,"attempt":2,"kind":"HANDLER","handler":"settle","jobId":"j",
		"jobName":"settle orders","group":"mine","owner":"ann","scheduledTime":"2026-11-20T12:00:00.000Z","shardIndex":0,
		"shardTotal":1,"fencingToken":7,"idempotencyKey":"x","data":{"a":1},"params":{"day":1},"secrets":{"key":"value"},
		"checkpoint":"c","timeoutMs":60000,"traceparent":"`+run.Execution.TraceParent()+`"}]}`, a.body)
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":4}`, as(token)...).want(200)

	e.Gateway.Receipts = []gateway.Receipt{{Attempt: attempt, Receipt: delivery.ReceiptAccepted, Line: 2}}
	a = e.call("POST", workers+"/"+id+"/report", `{"epoch":1,"items":[
		{"executionId":"x","token":7,"attempt":2,"lineFrom":1,"lines":["a","b\u0000"],"progress":50,"checkpoint":"d",
		"end":{"status":"FAILED","message":"m","result":"r","noRetry":true,"retryAfterMs":5,"durationMs":6,"agoMs":7,"exitCode":3}},
		{"executionId":"y","token":8,"attempt":1,"end":{"status":"RETURNED"}},
		{"executionId":"z","token":9,"attempt":1,"end":{"status":"RELEASED"}}]}`, as(token)...).want(200)
	require.JSONEq(t, `{"items":[{"executionId":"x","token":7,"receipt":"ACCEPTED","line":2}]}`, a.body)
	calls, items := e.Gateway.Asked()
	require.Equal(t, []gateway.Call{
		{
			WorkerID: id, Wait: 7 * time.Millisecond,
			Poll: delivery.Poll{
				Epoch: 1, Seq: 3, Ack: 2, Free: entity.Slots{4, 1}, Stopping: true,
				Running: []delivery.Attempt{{Execution: "y", Token: 5}},
			},
		},
		{WorkerID: id, Wait: 5 * time.Second, Poll: delivery.Poll{Epoch: 1, Seq: 4}},
	}, calls)
	checkpoint, code := "d", 3
	require.Equal(t, gateway.Item{
		Attempt: attempt, Number: 2, LineFrom: 1, Lines: []string{"a", "b\x00"}, Progress: 50, Checkpoint: &checkpoint,
		End: &gateway.End{
			Outcome: entity.Outcome{
				Status: entity.StatusFailed, Reason: entity.ReasonError, Message: "m", Result: "r", NoRetry: true,
				RetryAfter: 5 * time.Millisecond, ExitCode: &code,
			},
			Took: 6 * time.Millisecond, Ago: 7 * time.Millisecond,
		},
	}, items[0])
	require.Equal(t, []any{entity.StatusWaiting, -1}, []any{items[1].End.Outcome.Status, items[1].Progress})
	require.Equal(t, entity.Outcome{Status: entity.StatusFailed, Reason: entity.ReasonShutdown}, items[2].End.Outcome)

	e.Gateway.Err = apperror.Conflict("epoch_lost", "register anew")
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":5}`, as(token)...).wantCode(409, "epoch_lost")
	e.call("POST", workers+"/"+id+"/leave", `{"epoch":1}`, as(token)...).want(204)
	require.Equal(t, "DOWN", e.call("GET", workers+"/"+id, "").want(200).json()["status"])
}

func TestBadCallsOfWorkersAreRefused(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", nil, "mine")
	e.workerGroup("bank", "shown")
	for _, c := range apitest.WorkerCalls(id) {
		t.Run(fmt.Sprint(c.Path, " ", c.Field, " ", c.Code), func(t *testing.T) {
			a := e.on(t).call("POST", c.Path, c.Body, as(token)...)
			apitest.Case{Status: c.Status, Field: c.Field, Code: c.Code}.Check(t, a.status, a.header, a.body)
		})
	}
	calls, items := e.Gateway.Asked()
	require.Empty(t, calls)
	require.Empty(t, items)
	found, _, err := e.Store.ListWorkers(t.Context(), "", "", repository.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// Two registrations with one instance name.
func TestOneProcessHasAnInstanceName(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	e.register(token, "shop", "a")
	e.register(token, "shop", "a") // the same process again
	body := `{"protocol":1,"group":"shop","instance":"a","bootId":"boot-2"}`
	e.call("POST", workers, body, as(token)...).wantCode(409, "instance_in_use")
	e.Clock.Advance(12500 * time.Millisecond)
	require.EqualValues(t, 2, e.call("POST", workers, body, as(token)...).want(201).json()["epoch"])
}

// A token of a worker group does nothing but the calls of workers, for workers of its group.
func TestATokenOfAWorkerGroupOpensNothingElse(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	foreign := e.register(e.workerGroup("bank", "shown"), "bank", "a")
	for _, r := range e.router.Routes() {
		if r.Permission != permission.Public {
			e.call(r.Method, address(r), "", as(token)...).wantCode(401, "unknown_token")
		}
	}
	before, err := e.Store.Worker(t.Context(), foreign)
	require.NoError(t, err)
	for call, body := range map[string]string{
		"poll": `{"epoch":1,"seq":1}`, "report": `{"epoch":1,"items":[]}`, "leave": `{"epoch":1}`,
		"jobs": `{"epoch":1,"jobs":[]}`,
	} {
		e.call("POST", workers+"/"+foreign+"/"+call, body, as(token)...).wantCode(403, "foreign_group")
	}
	e.call("POST", workers, `{"protocol":1,"group":"bank","instance":"a","bootId":"b"}`, as(token)...).
		wantCode(403, "foreign_group")
	after, err := e.Store.Worker(t.Context(), foreign)
	require.NoError(t, err)
	require.Equal(t, before, after)
	calls, _ := e.Gateway.Asked()
	require.Empty(t, calls)
	// And a user's token opens none of them.
	e.call("POST", workers+"/"+foreign+"/leave", `{"epoch":1}`, as(wholeToken)...).wantCode(401, "unknown_token")
}

// Revoked tokens are refused at once on this node, those of a deleted group too.
func TestARevokedTokenIsRefused(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	a := e.call("POST", workerGroups+"/shop/tokens", `{"name":"next","expiresAt":"2026-12-20T12:00:00Z"}`).want(201)
	next := a.json()["token"].(string)
	id := e.register(token, "shop", "a")
	list := e.call("GET", workerGroups+"/shop/tokens", "").want(200)
	require.NotContains(t, list.body, "psw_")
	first := list.json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"deploy", "shop", "admin"}, []any{first["name"], first["group"], first["createdBy"]})
	e.call("DELETE", fmt.Sprint(workerGroups, "/shop/tokens/", first["id"]), "").want(204)
	poll := `{"epoch":1,"seq":1}`
	refused := e.call("POST", workers+"/"+id+"/poll", poll, as(token)...)
	refused.wantCode(401, "unknown_token")
	require.Contains(t, refused.header.Get("WWW-Authenticate"), "Bearer")
	e.call("POST", workers+"/"+id+"/poll", poll, as(next)...).want(200)
	e.call("DELETE", workerGroups+"/shop", "").wantCode(409, "worker_group_in_use")
	e.call("POST", workers+"/"+id+"/leave", `{"epoch":1}`, as(next)...).want(204)
	require.Equal(t, []string{id + " 1"}, e.Gateway.HaveLeft())
	e.call("DELETE", workerGroups+"/shop", "").want(204)
	e.call("POST", workers+"/"+id+"/poll", poll, as(next)...).wantCode(401, "unknown_token")
	require.NotContains(t, e.log.String()+fmt.Sprint(e.kept()), strings.TrimPrefix(next, "psw_"))
}

func TestCallersSeeTheWorkersOfTheirGroups(t *testing.T) {
	e := newEdge(t)
	both := e.register(e.workerGroup("both", "mine", "shown"), "both", "a")
	mine := e.register(e.workerGroup("mine", "mine"), "mine", "a")
	other := e.register(e.workerGroup("other", "theirs", "mine"), "other", "a")
	hidden := e.register(e.workerGroup("hidden", "theirs"), "hidden", "a")
	list := func(token string) (ids []string) {
		for _, item := range e.call("GET", workers, "", as(token)...).want(200).json()["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		return ids
	}
	require.Equal(t, []string{both, hidden, mine, other}, list(viewerToken))
	require.Equal(t, []string{both, mine, other}, list(boundToken))
	require.Equal(t, []any{"mine"}, e.call("GET", workers+"/"+other, "", as(boundToken)...).want(200).json()["jobGroups"],
		"other groups are not told of")
	e.call("GET", workers+"/"+hidden, "", as(boundToken)...).wantCode(404, "not_found")
	e.call("POST", workers+"/"+hidden+"/drain", "", as(boundToken)...).wantCode(404, "not_found")
	e.call("POST", workers+"/"+both+"/drain", "", as(boundToken)...).wantCode(403, "forbidden")
	e.call("POST", workers+"/"+other+"/drain", "", as(boundToken)...).wantCode(403, "forbidden")
	e.call("POST", workers+"/"+mine+"/drain", "", as(viewerToken)...).wantCode(403, "forbidden")
	drained := e.call("POST", workers+"/"+mine+"/drain", "", as(boundToken)...).want(200)
	require.Equal(t, "DRAINING", drained.json()["status"])
	require.Equal(t, "UP", e.call("POST", workers+"/"+mine+"/resume", "", as(operatorToken)...).want(200).json()["status"])
	kept := e.kept()
	require.JSONEq(t, `{"status":["DRAINING","UP"]}`, kept[len(kept)-1].Changes)
	require.Equal(t, []string{mine, "mine/a"}, []string{kept[len(kept)-1].Object, kept[len(kept)-1].ObjectName})
	for _, token := range []string{boundToken, operatorToken, viewerToken} {
		e.call("GET", workerGroups, "", as(token)...).wantCode(403, "forbidden")
		e.call("PUT", workerGroups+"/x", `{"jobGroups":["mine"]}`, as(token)...).wantCode(403, "forbidden")
		e.call("POST", workerGroups+"/mine/tokens", `{}`, as(token)...).wantCode(403, "forbidden")
	}
	e.call("POST", workerGroups+"/mine/tokens", `{}`).wantField(422, "name", "invalid")
	e.call("POST", workerGroups+"/mine/tokens", `{"name":"a","expiresAt":"2027-11-22T12:00:01Z"}`).
		wantField(422, "expiresAt", "out_of_range")
}

func TestAWorkerGroupIsEditedByVersion(t *testing.T) {
	e := newEdge(t)
	made := e.call("PUT", workerGroups+"/shop", `{"jobGroups":["b","a"],"commands":true}`).want(201)
	require.Equal(t, `"1"`, made.header.Get("ETag"))
	require.Equal(t, []any{[]any{"a", "b"}, 2000.0, true, false},
		[]any{made.json()["jobGroups"], made.json()["maxWorkers"], made.json()["commands"], made.json()["secrets"]})
	e.call("PUT", workerGroups+"/shop", made.body).want(200) // what was read may be sent back
	e.call("PUT", workerGroups+"/shop", made.body).wantCode(409, "stale_version")
	e.call("PUT", workerGroups+"/shop", `{"jobGroups":["a"]}`, "If-Match", `"1"`).wantCode(412, "version_mismatch")
	e.call("PUT", workerGroups+"/shop", `{"jobGroups":["a"]}`, "If-Match", `"2"`).want(200)
	require.Equal(t, `"3"`, e.call("GET", workerGroups+"/shop", "").want(200).header.Get("ETag"))
	require.Len(t, e.call("GET", workerGroups, "").want(200).json()["items"], 1)
	kept := e.kept()
	require.JSONEq(t, `{"jobGroups":[["a","b"],["a"]],"commands":[true,false]}`, kept[len(kept)-1].Changes)
}

// An answer has at most 1 MiB: the other runs come with the next polls. It always has one.
func TestAnAnswerToAWorkerIsBounded(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	id := e.register(token, "shop", "a")
	for n, want := range map[int]int{64 << 10: 7, 600 << 10: 1} {
		e.Gateway.Answer.Deliveries = nil
		for i := range 100 {
			e.Gateway.Answer.Deliveries = append(e.Gateway.Answer.Deliveries, gateway.Delivery{
				Run: entity.Run{
					Job:       &entity.Job{Type: entity.JobCustom},
					Execution: &entity.Execution{ID: fmt.Sprint(i), ScheduledTime: now},
					Secrets:   map[string]string{"s": strings.Repeat("x", n)},
				},
				Data: `{"a":"` + strings.Repeat("x", n) + `"}`,
			})
		}
		a := e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as(token)...).want(200)
		require.Len(t, a.json()["runs"], want)
		if want > 1 {
			require.LessOrEqual(t, len(a.body), 1<<20)
		}
	}
}

// Polls and reports come every few seconds from each worker: they leave no line and no entry. What a worker is refused
// once does.
func TestBeatsLeaveNoTrace(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	id := e.register(token, "shop", "a")
	var counted []string
	e.rebuild(func(d *api.Deps) {
		d.Worker.Called = func(call string, status int, group string) {
			counted = append(counted, fmt.Sprint(call, " ", status, " ", group))
		}
	})
	lines, kept := strings.Count(e.log.String(), "\n"), len(e.kept())
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as(token)...).want(200)
	e.call("POST", workers+"/"+id+"/report", `{"epoch":1,"items":[]}`, as(token)...).want(200)
	e.call("POST", workers+"/@bank.x/poll", `{"epoch":1,"seq":1}`, as(token)...).want(403)
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as("wrong")...).want(401)
	require.Equal(t, []string{"poll 200 shop", "report 200 shop", "poll 403 shop", "poll 401 "}, counted)
	require.Equal(t, []int{lines, kept}, []int{strings.Count(e.log.String(), "\n"), len(e.kept())})
	e.call("POST", workers, `{"protocol":1,"group":"bank"}`, as(token)...).want(403)
	entries := e.kept()
	require.Len(t, entries, kept+1)
	require.Equal(t, []any{"@shop", "POST /api/v1/workers", 403, "foreign_group"}, []any{
		entries[kept].UserName, entries[kept].Action, entries[kept].Status, entries[kept].Code,
	})
	e.Gateway.Err = errors.New("a mistake of ours")
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":2}`, as(token)...).want(500)
	require.Contains(t, e.log.String(), "a mistake of ours")
}

// A node without a role of the API serves workers all the same; one without a gateway says so.
func TestEachNodeServesWorkers(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	e.rebuild(func(d *api.Deps) { d.ProbesOnly = true })
	e.probesOnly = true
	id := e.register(token, "shop", "a")
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as(token)...).want(http.StatusOK)
	e.call("GET", workers, "").want(http.StatusMethodNotAllowed)
	e.rebuild(func(d *api.Deps) { d.Worker.Connected = func(context.Context) bool { return false } })
	a := e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as(token)...)
	a.wantCode(503, "too_many_connections")
	require.Equal(t, "close", a.header.Get("Connection"))
	e.rebuild(func(d *api.Deps) { d.Worker.Gateway, d.Worker.Connected = nil, nil })
	e.call("POST", workers+"/"+id+"/poll", `{"epoch":1,"seq":1}`, as(token)...).wantCode(503, "no_gateway")
}

// A token must not go over a network in clear (V18).
func TestWorkersOfOtherMachinesCallOverTLS(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	id := e.register(token, "shop", "a")
	e.rebuild(func(d *api.Deps) { d.Worker.AllowPlain, d.TrustedProxies = false, []string{"10.0.0.1"} })
	for name, c := range map[string]struct {
		from string
		tls  bool
		sent []string
		want int
	}{
		"another machine":            {"192.0.2.1:1", false, nil, 403},
		"this machine":               {"127.0.0.1:1", false, nil, 200},
		"this machine by IPv6":       {"[::1]:1", false, nil, 200},
		"another machine over TLS":   {"192.0.2.1:1", true, nil, 200},
		"a proxy with TLS":           {"10.0.0.1:1", false, []string{"X-Forwarded-Proto", "https"}, 200},
		"a proxy without TLS":        {"10.0.0.1:1", false, []string{"X-Forwarded-Proto", "http"}, 403},
		"one who says to be a proxy": {"192.0.2.1:1", false, []string{"X-Forwarded-Proto", "https"}, 403},
		"one who says to be here":    {"192.0.2.1:1", false, []string{"X-Forwarded-For", "127.0.0.1"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.NewReader(`{"epoch":1,"seq":1}`)
			r := httptest.NewRequestWithContext(t.Context(), "POST", workers+"/"+id+"/poll", body)
			r.RemoteAddr = c.from
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i+1 < len(c.sent); i += 2 {
				r.Header.Set(c.sent[i], c.sent[i+1])
			}
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			rec := httptest.NewRecorder()
			e.router.ServeHTTP(rec, r)
			require.Equal(t, c.want, rec.Code, rec.Body)
			if c.want == 403 {
				require.Contains(t, rec.Body.String(), "plain_http")
			}
		})
	}
}

// patient is a writer that keeps until when the server reads.
type patient struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error {
	p.until = t
	return nil
}

// The server gives a request 30 seconds to arrive, and then ends what it has begun: a parked poll must outlast that.
func TestAParkedPollIsNotCut(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	id := e.register(token, "shop", "a")
	body := strings.NewReader(`{"epoch":1,"seq":1,"waitMs":20000}`)
	r := httptest.NewRequestWithContext(t.Context(), "POST", workers+"/"+id+"/poll", body)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	p := &patient{ResponseRecorder: httptest.NewRecorder()}
	e.router.ServeHTTP(p, r)
	require.Equal(t, 200, p.Code)
	require.Equal(t, e.Clock.Now().Add(30*time.Second), p.until)
}

// A group that jobs name stays: their runs would wait for workers that can never come.
func TestAWorkerGroupThatJobsNameStays(t *testing.T) {
	e := newEdge(t)
	token := e.workerGroup("shop", "mine")
	id := e.register(token, "shop", "a")
	m := e.call("GET", workerGroups+"/shop", "").want(200).json()
	require.Equal(t, map[string]any{"up": 1.0, "draining": 0.0, "down": 0.0}, m["workers"])
	listed := e.call("GET", workerGroups, "").want(200).json()["items"].([]any)
	require.Equal(t, m["workers"], listed[0].(map[string]any)["workers"])
	e.call("POST", workers+"/"+id+"/leave", `{"epoch":1}`, as(token)...).want(204)

	var jobs []string
	for i := range 21 {
		jobs = append(jobs, e.create(encode(t, minimal().with(fields{
			"name": fmt.Sprintf("settle-%02d", i), "group": "mine", "routing": fields{"workers": "shop"},
		})))["id"].(string))
	}
	a := e.call("DELETE", workerGroups+"/shop", "").want(409)
	require.Equal(t, "worker_group_in_use", a.json()["code"])
	require.Contains(t, a.json()["detail"], "mine/settle-00, mine/settle-01")
	require.Contains(t, a.json()["detail"], ", and more; give them another routing.workers or none")
	require.Len(t, a.json()["errors"], 20)
	a = e.call("PUT", workerGroups+"/shop", `{"jobGroups":["other"]}`).want(409)
	require.Equal(t, "worker_group_in_use", a.json()["code"])
	require.Contains(t, a.json()["detail"], "its workers would not run them any more: mine/settle-00, mine/settle-01")
	require.Len(t, a.json()["errors"], 20)
	e.call("PUT", workerGroups+"/shop", `{"jobGroups":["mine","other"]}`).want(200)
	for _, id := range jobs {
		e.call("DELETE", "/api/v1/jobs/"+id, "").want(204)
	}
	e.call("DELETE", workerGroups+"/shop", "").want(204)
}
