package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/resttest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// narrow binds the viewer to groups, in a new session.
func (e *edge) narrow(groups ...string) (headers []string) {
	e.t.Helper()
	held := map[string]entity.Role{}
	for _, g := range groups {
		held[g] = entity.RoleViewer
	}
	require.NoError(e.t, e.Store.SetRole(e.t.Context(), "id-of-viewer", entity.RoleViewer, entity.Rights{Groups: held},
		now))
	return as(e.signIn("viewer"))
}

const loadPath = "/api/v1/schedules/load"

func TestThePlannedLoadIsShown(t *testing.T) {
	e := newEdge(t)
	for name, cron := range map[string]string{
		"half": "0/30 0,1,3 12 * * ?", "third": "0/20 1,3 12 * * ?",
		"later": "0 0 0 1 1 ?",
	} {
		e.create(encode(t, minimal().with(fields{"name": name, "group": "g", "schedule": fields{"cronExpression": cron}})))
	}
	require.JSONEq(t, `{"from":"2026-11-20T12:00:00.000Z","items":[
		{"time":"2026-11-20T12:00:00.000Z","fires":2},{"time":"2026-11-20T12:01:00.000Z","fires":5},
		{"time":"2026-11-20T12:02:00.000Z","fires":0},{"time":"2026-11-20T12:03:00.000Z","fires":5}],
		"peak":{"time":"2026-11-20T12:01:00.000Z","fires":5},"jobs":3,"complete":true}`,
		e.call("GET", loadPath+"?minutes=4", "").want(200).body)
	require.Len(t, e.call("GET", loadPath, "").want(200).json()["items"], 1440)
	e.create(encode(t, minimal().with(fields{"group": "a", "schedule": fields{"cronExpression": "0 0 0 * * ?"}})))
	e.create(encode(t, minimal().with(fields{"group": "unseen", "schedule": fields{"cronExpression": "0 0 0 * * ?"}})))
	bound := e.narrow("a", "g")
	m := e.call("GET", loadPath+"?from=2026-11-21T00:00:00Z&minutes=10080&group=g", "", bound...).want(200).json()
	require.Len(t, m["items"], 10_080)
	require.Equal(t, []any{"2026-11-21T00:00:00.000Z", 3.0}, []any{m["from"], m["jobs"]})
	require.EqualValues(t, 4, e.call("GET", loadPath, "", bound...).want(200).json()["jobs"])
	require.EqualValues(t, 5, e.call("GET", loadPath, "").want(200).json()["jobs"])

	for query, field := range map[string]string{
		"?minutes=0": "minutes", "?minutes=10081": "minutes",
		"?minutes=x": "minutes", "?from=noon": "from", "?to=x": "to",
	} {
		e.call("GET", loadPath+query, "").wantField(422, field, "")
	}
	e.rebuild(func(d *api.Deps) { d.Loads = silentLoads{} })
	e.call("GET", loadPath, "").want(503)
	e.call("POST", spreadPath, `{"minute":"2026-11-21T00:00:00Z","jitterMs":60000}`).want(503)
}

const spreadPath = "/api/v1/schedules/spread"

func TestTheJobsOfAMinuteAreSpread(t *testing.T) {
	e := newEdge(t)
	midnight := fields{"cronExpression": "0 0 0 * * ?"}
	for i := range 30 {
		e.create(encode(t, minimal().with(fields{"name": fmt.Sprint("midnight-", i), "group": "a", "schedule": midnight})))
	}
	e.create(encode(t, minimal().with(fields{"name": "theirs", "group": "b", "schedule": midnight})))
	e.create(encode(t, minimal().with(fields{"name": "often", "group": "a", "schedule": fields{
		"kind": "FIXED_RATE", "intervalMs": 60_000, "startTime": "2026-11-20T12:00:00Z",
	}})))
	e.create(
		encode(
			t,
			minimal().with(fields{"name": "later", "group": "a", "schedule": fields{"cronExpression": "0 30 0 * * ?"}}),
		),
	)
	type answer struct {
		DryRun, More, Complete bool
		Kept                   int
		Before, After          []struct{ Fires int }
		Jobs                   []struct {
			ID, Name, Group string
			Fires, JitterMs int
		}
		Result *struct{ Succeeded, Failed int }
	}
	ask := func(body string, headers ...string) (v answer) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(e.call("POST", spreadPath, body, headers...).want(200).body), &v))
		return v
	}
	sum := func(v []struct{ Fires int }) (n int) {
		for _, m := range v {
			n += m.Fires
		}
		return n
	}
	const minute = `"minute":"2026-11-21T00:00:30Z","jitterMs":600000`
	plan := ask(`{` + minute + `,"group":"a","dryRun":true}`)
	require.True(t, plan.DryRun)
	require.True(t, plan.Complete)
	require.Nil(t, plan.Result)
	require.Equal(t, []int{11, 31, 1}, []int{len(plan.Before), plan.Before[0].Fires, plan.Kept}, "often keeps its rhythm")
	require.Len(t, plan.Jobs, 30)
	require.Equal(t, "a", plan.Jobs[0].Group)
	require.Contains(t, plan.Jobs[0].Name, "midnight-")
	require.Less(t, plan.After[0].Fires, 15)
	require.Equal(t, sum(plan.Before), sum(plan.After), "nothing is lost")
	require.Equal(t, plan.Before, ask(`{`+minute+`,"group":"a","dryRun":true}`).Before, "nothing was changed")

	// The promise is planned then, also for a user who may change one group alone.
	require.NoError(t, e.Store.SetRole(t.Context(), "id-of-viewer", entity.RoleOperator,
		entity.Rights{Groups: map[string]entity.Role{"a": entity.RoleOperator, "b": entity.RoleViewer}}, now))
	bound := as(e.signIn("viewer"))
	done := ask(`{`+minute+`}`, bound...)
	require.Equal(t, plan.After, done.After)
	require.Equal(t, []int{30, 0}, []int{done.Result.Succeeded, done.Result.Failed})
	after := ask(`{` + minute + `,"group":"a","dryRun":true}`)
	require.Equal(t, plan.After, after.Before)
	require.Empty(t, after.Jobs)
	require.EqualValues(t, 600_000, e.call("GET", "/api/v1/jobs/"+plan.Jobs[0].ID, "").want(200).
		json()["schedule"].(map[string]any)["jitterMs"])
	require.Len(t, ask(`{`+minute+`,"dryRun":true}`).Jobs, 1, "that of the other group")

	for body, field := range map[string]string{
		`{"jitterMs":600000}`:                                   "minute",
		`{"minute":"2026-11-21T00:00:00Z"}`:                     "jitterMs",
		`{"minute":"2026-11-21T00:00:00Z","jitterMs":86400001}`: "jitterMs",
		`{"minute":"2300-11-21T00:00:00Z","jitterMs":60000}`:    "minute",
		`{"minute":"noon","jitterMs":60000}`:                    "minute",
	} {
		e.call("POST", spreadPath, body).wantField(422, field, "")
	}
	e.call("POST", spreadPath, `{`+minute+`}`, e.narrow("a")...).wantCode(403, "forbidden")
}

// The minutes of a dry run are those that are set, also of jobs whose times count from when they were made.
func TestADryRunOfASpreadShowsWhatIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		schedule fields
		kept     int
	}{
		"a rate":            {fields{"kind": "FIXED_RATE", "intervalMs": 3_600_000}, 0},
		"a delay":           {fields{"kind": "FIXED_DELAY", "intervalMs": 3_600_000}, 0},
		"every hour":        {fields{"cronExpression": "@every 1h"}, 0},
		"a cron":            {fields{"cronExpression": "0 0 13 * * ?"}, 0},
		"once":              {fields{"kind": "ONCE", "at": "2026-11-20T13:00:00Z"}, 0},
		"a rate as short":   {fields{"kind": "FIXED_RATE", "intervalMs": 600_000}, 20},
		"every ten minutes": {fields{"cronExpression": "@every 10m"}, 20},
		"a rate with a start": {
			fields{"kind": "FIXED_RATE", "intervalMs": 3_600_000, "startTime": "2026-11-20T13:00:00Z"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			for i := range 20 {
				e.create(encode(t, minimal().with(fields{"name": fmt.Sprint("job-", i), "schedule": c.schedule})))
			}
			type answer struct {
				Kept          int
				Before, After []struct{ Fires int }
				Result        *struct{ Succeeded, Failed int }
			}
			ask := func(dry bool) (v answer) {
				body := fmt.Sprintf(`{"minute":"2026-11-20T13:00:00Z","jitterMs":600000,"dryRun":%v}`, dry)
				require.NoError(t, json.Unmarshal([]byte(e.call("POST", spreadPath, body).want(200).body), &v))
				return v
			}
			plan := ask(true)
			require.Equal(t, []int{20, c.kept}, []int{plan.Before[0].Fires, plan.Kept})
			e.Clock.Advance(4 * time.Second)
			done := ask(false)
			require.Equal(t, []int{20 - c.kept, 0}, []int{done.Result.Succeeded, done.Result.Failed})
			require.Equal(t, plan.After, done.After)
			require.Equal(t, plan.After, ask(true).Before, "what is planned then")
		})
	}
}

// silentLoads is a count over a store that does not answer.
type silentLoads struct{}

func (silentLoads) Load(context.Context, monitor.LoadQuery) (monitor.Load, error) {
	return monitor.Load{}, apperror.Unavailable(errors.New("down"))
}

func (silentLoads) Spread(context.Context, monitor.SpreadQuery) (monitor.Spread, error) {
	return monitor.Spread{}, apperror.Unavailable(errors.New("down"))
}

// cut counts to one: to hit the real bounds would take many thousand rows.
type cut struct {
	repository.Counts
	repository.WorkerCounts
}

func (c cut) CountRuns(ctx context.Context, since time.Time, groups []string,
	_ int,
) (map[entity.Status]int, bool, error) {
	return c.Counts.CountRuns(ctx, since, groups, 1)
}

func (c cut) CountClaims(ctx context.Context, spans []entity.ClaimSpan, groups []string,
	_ int,
) ([]repository.SpanCount, error) {
	return c.Counts.CountClaims(ctx, spans, groups, 1)
}

func (c cut) CountLetters(ctx context.Context, groups []string, _ int) (int, bool, error) {
	return c.Counts.CountLetters(ctx, groups, 1)
}

func TestTheOverviewIsShown(t *testing.T) {
	const path = "/api/v1/monitor/overview"
	e := newEdge(t)
	var jobID string
	e.Write(t, func(ctx context.Context, tx repository.Tx) error {
		var jobs []*entity.Job
		for status, n := range map[entity.JobStatus]int{
			entity.JobCreated: 1, entity.JobEnabled: 2, entity.JobPaused: 3,
			entity.JobFinished: 4,
		} {
			for i := range n {
				j := enginetest.Job(fmt.Sprint(status, i), func(j *entity.Job) { j.Group = "a" })
				j.ID, j.Version, j.Status, j.CreateTime, j.UpdateTime = uuid.Must(uuid.NewV7()).String(), 1, status, now, now
				jobs = append(jobs, j)
			}
		}
		jobID = jobs[0].ID
		return tx.Jobs.Insert(ctx, jobs...)
	})
	several := func(prefix string, n int, at time.Time, change func(x *entity.Execution)) {
		for i := range n {
			x := dead(idAt(at, 100*int(prefix[0])+i), jobID)
			x.FireKey, x.Reason, x.StartTime, x.EndTime = prefix+fmt.Sprint(i), "", time.Time{}, time.Time{}
			change(&x)
			e.put(x)
		}
	}
	in := func(status entity.Status, claim entity.ClaimKey) func(x *entity.Execution) {
		return func(x *entity.Execution) { x.Status, x.Claim = status, claim }
	}
	several("w", 5, now, in(entity.StatusWaiting, entity.CommonQueue.Key(5, now)))
	several("k", 2, now, in(entity.StatusWaiting,
		entity.UnroutableQueue(entity.NodeClass{Workers: "shop"}, entity.WaitWorker).Key(5, now)))
	several("h", 1, now, in(entity.StatusWaiting,
		entity.UnroutableQueue(entity.NodeClass{Workers: "shop", Handler: "settle"}, entity.WaitHandler).Key(5, now)))
	token := e.workerGroup("shop", "a", "c")
	gone := e.register(token, "shop", "gone")
	e.register(token, "shop", "up")
	require.NoError(t, e.Store.DrainWorker(t.Context(), e.register(token, "shop", "draining"), true))
	_, err := e.Store.LeaveWorker(t.Context(), gone, 1)
	require.NoError(t, err)
	several("r", 6, now, in(entity.StatusRunning, entity.RunningKey("node-1")))
	for i, status := range []entity.Status{
		entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout,
		entity.StatusCancelled, entity.StatusSkipped, entity.StatusDead,
	} {
		several(string(rune('a'+i)), 8+i, now.Add(-59*time.Minute), in(status, ""))
	}
	several("o", 3, now.Add(-61*time.Minute), in(entity.StatusSuccess, ""))
	e.keep(func(ctx context.Context, r repository.RecordWriter) error {
		var letters []entity.DeadLetter
		for i := range 7 {
			letters = append(letters, letter(fmt.Sprint("dead-", i), jobID))
		}
		return r.AddDeadLetters(ctx, letters)
	})
	for i := range 9 { // node-1 is up
		n := entity.Node{ID: fmt.Sprint("other-", i), Roles: []string{entity.RoleExecutor}}
		n.Epoch = e.join(n)
		n.LastHeartbeat = now
		switch {
		case i < 2:
			ok, err := e.Store.Mark(t.Context(), n, entity.NodeSuspect, "")
			require.True(t, ok)
			require.NoError(t, err)
		case i < 5:
			require.NoError(t, e.Store.Leave(t.Context(), n.ID, n.Epoch))
		default:
			require.NoError(t, e.Store.Drain(t.Context(), n.ID, true))
		}
	}
	health := monitor.NewMonitorService(e.Store, resttest.NoTasks{}, e.Clock,
		monitor.Part{Name: "redis", Check: func() (string, bool) { return "Redis is away", false }})
	late := func() (p50, p99 time.Duration) { return 1234567 * time.Nanosecond, time.Second }
	e.rebuild(func(d *api.Deps) { d.Overview = e.Overview(health, late) })
	require.JSONEq(t, `{"time":"2026-11-20T12:00:00.000Z","jobs":{"created":1,"enabled":2,"paused":3,"finished":4},
		"executions":{"waiting":8,"running":6,"lastHour":{"success":8,"failed":9,"timeout":10,"cancelled":11,"skipped":12,"dead":13}},
		"deadLetters":7,"nodes":{"up":1,"suspect":2,"down":3,"draining":4},
		"workers":{"groups":1,"up":1,"draining":1,"down":1,"waiting":3},"leader":"node-1",
		"degraded":["Redis is away","the node other-0 has not beaten for 0s","the node other-1 has not beaten for 0s"],
		"degradedParts":[{"part":"redis","reason":"Redis is away","since":"2026-11-20T12:00:00.000Z"},
			{"part":"node","reason":"the node other-0 has not beaten for 0s","since":"2026-11-20T12:00:00.000Z"},
			{"part":"node","reason":"the node other-1 has not beaten for 0s","since":"2026-11-20T12:00:00.000Z"}],
		"latenessMs":{"p50":1.23,"p99":1000}}`, e.call("GET", path, "").want(200).body)

	a := e.call("GET", path, "", e.narrow("b", "c")...).want(200).json()
	require.Equal(t, map[string]any{"groups": 1.0, "up": 1.0, "draining": 1.0, "down": 1.0, "waiting": 0.0}, a["workers"])
	require.Equal(t, []any{0.0, 0.0, 0.0},
		[]any{a["jobs"].(map[string]any)["created"], a["executions"].(map[string]any)["waiting"], a["deadLetters"]},
		"nothing is in these groups")
	e.rebuild(func(d *api.Deps) {
		d.Overview = monitor.NewOverviewService(monitor.OverviewDeps{
			Counts: cut{e.Store, e.Store}, Nodes: e.Store, Leader: func(context.Context) (string, error) { return "", nil },
			Monitor: monitor.NewMonitorService(e.Store, resttest.NoTasks{}, e.Clock), Lateness: resttest.Lateness(nil),
			Clock: e.Time, Machine: e.Clock,
		})
	})
	for _, id := range []string{"other-0", "other-1"} { // they beat again
		e.join(entity.Node{ID: id, Roles: []string{entity.RoleExecutor}})
	}
	a = e.call("GET", path, "", e.narrow("b", "a")...).want(200).json()
	runs := a["executions"].(map[string]any)
	require.Equal(t, []any{true, true, true, true}, []any{
		runs["waitingAtLeast"], runs["runningAtLeast"],
		a["deadLettersAtLeast"], runs["lastHour"].(map[string]any)["atLeast"],
	})
	require.Equal(t, []any{[]any{}, map[string]any{"p50": nil, "p99": nil}, nil},
		[]any{a["degraded"], a["latenessMs"], a["leader"]})
	e.call("GET", path+"?x=1", "").wantField(422, "x", "unknown_parameter")
}

const seriesPath = "/api/v1/monitor/metrics"

func TestATimeSeriesIsShown(t *testing.T) {
	e := newEdge(t)
	minute := func(name, node, group string, ago time.Duration, v float64) series.Row {
		return series.Row{
			Name: name, Period: series.Minute, Time: now.Add(-ago).Truncate(time.Minute), NodeID: node, Group: group,
			Samples: 1, Sum: v, Min: v, Max: v,
		}
	}
	require.NoError(t, e.Store.PutMetrics(t.Context(), []series.Row{
		minute("executions.ended", "n1", "a", 10*time.Minute, 3), minute("executions.ended", "n2", "a", 10*time.Minute, 4),
		minute("executions.ended", "n1", "b", 10*time.Minute, 100), minute("executions.ended", "n1", "a", 9*time.Minute, 5),
		minute("node.cpu", "n1", "", 10*time.Minute, 0.5), minute("node.cpu", "n2", "", 10*time.Minute, 0.25),
	}))
	values := func(query string, headers ...string) (out [][]any) {
		for _, line := range e.call("GET", seriesPath+query, "", headers...).want(200).json()["series"].([]any) {
			of := []any{line.(map[string]any)["nodeId"]}
			for _, p := range line.(map[string]any)["points"].([]any) {
				of = append(of, p.(map[string]any)["value"])
			}
			out = append(out, of)
		}
		return out
	}
	require.Equal(t, [][]any{{nil, 107.0, 5.0}}, values("?name=executions.ended"))
	require.Equal(t, [][]any{{nil, 7.0, 5.0}}, values("?name=executions.ended&group=a"))
	require.Equal(t, [][]any{{"n2", 4.0}}, values("?name=executions.ended&group=a&nodeId=n2"))
	require.Equal(t, [][]any{{"n1", 0.5}, {"n2", 0.25}}, values("?name=node.cpu"))
	require.Empty(t, values("?name=node.cpu&nodeId=n3"))
	bound := e.narrow("b")
	require.Equal(t, [][]any{{nil, 100.0}}, values("?name=executions.ended", bound...))
	require.Empty(t, values("?name=executions.ended&group=a", bound...), "what one may not see is not there")
	e.call("GET", seriesPath+"?name=node.cpu", "", bound...).want(403)
	e.call("GET", seriesPath+"?name=node.gpu", "").wantField(422, "name", "unknown_metric")
}
