package api_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// fakeAhead answers from its fields what looks over all jobs.
type fakeAhead struct {
	overview monitor.Overview
	groups   []string
	load     monitor.LoadQuery
	fires    []int
	err      error
}

func (f *fakeAhead) Overview(_ context.Context, groups []string) (monitor.Overview, error) {
	f.groups = groups
	f.overview.Time = cmp.Or(f.overview.Time, now)
	return f.overview, f.err
}

func (f *fakeAhead) Load(_ context.Context, q monitor.LoadQuery) (monitor.Load, error) {
	f.load = q
	fires := f.fires
	if fires == nil {
		fires = make([]int, q.Minutes)
	}
	return monitor.Load{From: now, Fires: fires, Jobs: 3, Complete: true}, f.err
}

// narrow binds the viewer to groups.
func (e *edge) narrow(groups ...string) (headers []string) {
	e.auth.become(func(f *fakeAuth) {
		held := map[string]entity.Role{}
		for _, g := range groups {
			held[g] = entity.RoleViewer
		}
		f.groups = map[string]map[string]entity.Role{viewerToken: held}
	})
	return []string{"Authorization", "Bearer " + viewerToken}
}

const loadPath = "/api/v1/schedules/load"

func TestThePlannedLoadIsShown(t *testing.T) {
	e := newEdge(t)
	e.ahead.fires = []int{2, 5, 0, 5}
	require.JSONEq(t, `{"from":"2026-11-20T12:00:00.000Z","items":[
		{"time":"2026-11-20T12:00:00.000Z","fires":2},{"time":"2026-11-20T12:01:00.000Z","fires":5},
		{"time":"2026-11-20T12:02:00.000Z","fires":0},{"time":"2026-11-20T12:03:00.000Z","fires":5}],
		"peak":{"time":"2026-11-20T12:01:00.000Z","fires":5},"jobs":3,"complete":true}`, e.call("GET", loadPath, "").want(200).body)
	require.Equal(t, monitor.LoadQuery{Minutes: 1440}, e.ahead.load)
	e.call("GET", loadPath+"?from=2026-11-21T00:00:00Z&minutes=10080&group=g", "", e.narrow("a", "g")...).want(200)
	require.Equal(t, monitor.LoadQuery{From: now.Add(12 * time.Hour), Minutes: 10_080, Group: "g", Groups: []string{"a", "g"}}, e.ahead.load)

	for query, field := range map[string]string{"?minutes=0": "minutes", "?minutes=10081": "minutes", "?minutes=x": "minutes", "?from=noon": "from", "?to=x": "to"} {
		e.call("GET", loadPath+query, "").wantField(422, field, "")
	}
	e.ahead.err = apperror.Unavailable(errors.New("down"))
	e.call("GET", loadPath, "").want(503)
}

func TestTheOverviewIsShown(t *testing.T) {
	const path = "/api/v1/monitor/overview"
	e := newEdge(t)
	e.ahead.overview = monitor.Overview{
		Time:    now,
		Jobs:    map[entity.JobStatus]int{entity.JobCreated: 1, entity.JobEnabled: 2, entity.JobPaused: 3, entity.JobFinished: 4},
		Waiting: monitor.Count{N: 5}, Running: monitor.Count{N: 6}, DeadLetters: monitor.Count{N: 7},
		LastHour: map[entity.Status]int{
			entity.StatusSuccess: 8, entity.StatusFailed: 9, entity.StatusTimeout: 10, entity.StatusCancelled: 11, entity.StatusSkipped: 12, entity.StatusDead: 13,
			entity.StatusWaiting: 99,
		},
		Nodes:    map[entity.NodeStatus]int{entity.NodeUp: 14, entity.NodeSuspect: 15, entity.NodeDown: 16, entity.NodeDraining: 17},
		Leader:   "node-1",
		Degraded: []monitor.Trouble{{Part: "duty", Reason: "scan has not ticked for 1m0s", Since: now}}, Lateness: monitor.Lateness{P50: 1234567 * time.Nanosecond, P99: time.Second, Known: true},
	}
	require.JSONEq(t, `{"time":"2026-11-20T12:00:00.000Z","jobs":{"created":1,"enabled":2,"paused":3,"finished":4},
		"executions":{"waiting":5,"running":6,"lastHour":{"success":8,"failed":9,"timeout":10,"cancelled":11,"skipped":12,"dead":13}},
		"deadLetters":7,"nodes":{"up":14,"suspect":15,"down":16,"draining":17},"leader":"node-1","degraded":["scan has not ticked for 1m0s"],
		"degradedParts":[{"part":"duty","reason":"scan has not ticked for 1m0s","since":"2026-11-20T12:00:00.000Z"}],
		"latenessMs":{"p50":1.23,"p99":1000}}`, e.call("GET", path, "").want(200).body)
	require.Nil(t, e.ahead.groups, "an admin sees all")

	e.ahead.overview = monitor.Overview{
		Waiting: monitor.Count{AtLeast: true}, Running: monitor.Count{AtLeast: true}, DeadLetters: monitor.Count{AtLeast: true}, LastHourAtLeast: true,
	}
	a := e.call("GET", path, "", e.narrow("b", "a")...).want(200).json()
	require.Equal(t, []string{"a", "b"}, e.ahead.groups)
	runs := a["executions"].(map[string]any)
	require.Equal(t, []any{true, true, true, true}, []any{runs["waitingAtLeast"], runs["runningAtLeast"], a["deadLettersAtLeast"], runs["lastHour"].(map[string]any)["atLeast"]})
	require.Equal(t, []any{[]any{}, map[string]any{"p50": nil, "p99": nil}, nil}, []any{a["degraded"], a["latenessMs"], a["leader"]})
	e.call("GET", path+"?x=1", "").wantField(422, "x", "unknown_parameter")
}
