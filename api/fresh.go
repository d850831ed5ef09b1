package api

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/application/service/live"
)

const (
	// listLife is how long pages are shown the same rows, sumLife the same sums of many rows.
	listLife = time.Second
	sumLife  = 5 * time.Second
)

// Freshness returns how long the answers of a route may be shown again; ok is false for
// routes whose answers are not kept: what holds a secret, is downloaded, followed, or read
// for an edit.
func Freshness(r Route) (f middleware.Freshness, ok bool) {
	if r.Method != http.MethodGet {
		return f, false
	}
	const v1 = "/api/v1"
	f, ok = map[string]middleware.Freshness{
		v1 + "/monitor/overview":    {Life: listLife, Topics: []string{live.Executions, live.Nodes, live.Jobs}},
		v1 + "/monitor/failures":    {Life: sumLife},
		v1 + "/monitor/today":       {Life: sumLife},
		v1 + "/monitor/statistics":  {Life: sumLife},
		v1 + "/schedules/load":      {Life: sumLife, Topics: []string{live.Jobs}},
		v1 + "/nodes":               {Life: listLife, Topics: []string{live.Nodes}},
		v1 + "/alerts":              {Life: listLife, Topics: []string{live.Alerts}},
		v1 + "/jobs":                {Life: listLife, Topics: []string{live.Jobs, live.Executions}, ByRole: true},
		v1 + "/groups":              {Life: listLife, Topics: []string{live.Jobs}, ByRole: true},
		v1 + "/executions":          {Life: listLife, Topics: []string{live.Executions}, ByRole: true},
		v1 + "/dead-letters":        {Life: listLife, Topics: []string{live.Executions}, ByRole: true},
		v1 + "/dead-letters/causes": {Life: listLife, Topics: []string{live.Executions}, ByRole: true},
	}[r.Path]
	return f, ok
}
