package api_test

import (
	"context"
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
}

// silentLoads is a count over a store that does not answer.
type silentLoads struct{}

func (silentLoads) Load(context.Context, monitor.LoadQuery) (monitor.Load, error) {
	return monitor.Load{}, apperror.Unavailable(errors.New("down"))
}

// cut counts to one: to hit the real bounds would take many thousand rows.
type cut struct{ repository.Counts }

func (c cut) CountRuns(ctx context.Context, since time.Time, groups []string,
	_ int,
) (map[entity.Status]int, bool, error) {
	return c.Counts.CountRuns(ctx, since, groups, 1)
}

func (c cut) CountClaims(ctx context.Context, lo, hi entity.ClaimKey, groups []string, _ int) (int, bool, error) {
	return c.Counts.CountClaims(ctx, lo, hi, groups, 1)
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
		"executions":{"waiting":5,"running":6,"lastHour":{"success":8,"failed":9,"timeout":10,"cancelled":11,"skipped":12,"dead":13}},
		"deadLetters":7,"nodes":{"up":1,"suspect":2,"down":3,"draining":4},"leader":"node-1",
		"degraded":["Redis is away","the node other-0 has not beaten for 0s","the node other-1 has not beaten for 0s"],
		"degradedParts":[{"part":"redis","reason":"Redis is away","since":"2026-11-20T12:00:00.000Z"},
			{"part":"node","reason":"the node other-0 has not beaten for 0s","since":"2026-11-20T12:00:00.000Z"},
			{"part":"node","reason":"the node other-1 has not beaten for 0s","since":"2026-11-20T12:00:00.000Z"}],
		"latenessMs":{"p50":1.23,"p99":1000}}`, e.call("GET", path, "").want(200).body)

	a := e.call("GET", path, "", e.narrow("b", "c")...).want(200).json()
	require.Equal(t, []any{0.0, 0.0, 0.0},
		[]any{a["jobs"].(map[string]any)["created"], a["executions"].(map[string]any)["waiting"], a["deadLetters"]},
		"nothing is in these groups")
	e.rebuild(func(d *api.Deps) {
		d.Overview = monitor.NewOverviewService(monitor.OverviewDeps{
			Counts: cut{e.Store}, Nodes: e.Store, Leader: func(context.Context) (string, error) { return "", nil },
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
