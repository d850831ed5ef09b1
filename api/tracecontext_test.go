package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A run keeps the span of the call that asked for it; what is no span is ignored, and refuses nothing.
func TestATriggerTakesTheSpanOfItsCaller(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	e := newEdge(t)
	id := e.create(encode(t, minimal()))["id"].(string)
	for given, want := range map[string]entity.TraceContext{
		parent: parent, "": "", "00-1-2-01": "", parent + ", " + parent: "",
	} {
		var headers []string
		if given != "" {
			headers = []string{"traceparent", given}
		}
		made := e.call("POST", "/api/v1/jobs/"+id+"/trigger", `{}`, headers...).want(202).json()["executionIds"].([]any)
		require.Len(t, made, 1)
		require.Equal(t, want, e.Execution(t, made[0].(string)).Parent, "%q", given)
	}
}
