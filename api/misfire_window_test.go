package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The window that nobody names depends on the policy: one run after an outage of months does little harm.
func TestTheWindowOfMissedFiresFollowsThePolicy(t *testing.T) {
	e := newEdge(t)
	for name, c := range map[string]struct {
		schedule fields
		want     float64
	}{
		"nothing is said": {fields{}, 31_536_000},
		"once":            {fields{"misfirePolicy": "FIRE_ONCE"}, 31_536_000},
		"all":             {fields{"misfirePolicy": "FIRE_ALL"}, 86_400},
		"none":            {fields{"misfirePolicy": "SKIP"}, 86_400},
		"null":            {fields{"misfirePolicy": "FIRE_ONCE", "misfireWindowSec": nil}, 31_536_000},
		"once, a day":     {fields{"misfirePolicy": "FIRE_ONCE", "misfireWindowSec": 86_400}, 86_400},
		"once, nothing":   {fields{"misfirePolicy": "FIRE_ONCE", "misfireWindowSec": 0}, 0},
		"all, a year":     {fields{"misfirePolicy": "FIRE_ALL", "misfireWindowSec": 31_536_000}, 31_536_000},
	} {
		c.schedule["cronExpression"] = "0 0 12 * * ?"
		id := e.create(encode(t, minimal().with(fields{"name": name, "schedule": c.schedule})))["id"].(string)
		got := e.call("GET", "/api/v1/jobs/"+id, "").want(200).json()["schedule"].(map[string]any)
		require.InDelta(t, c.want, got["misfireWindowSec"], 0, name)
	}
}
