package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// flowRun is a workflow run as lists show it.
type flowRun struct{ Workflow, Phase, Status, ErrorMessage, Problem string }

// TestTheExampleWorkflowsRun applies the examples of `make run`. Their workflows need nothing but the server itself.
func TestTheExampleWorkflowsRun(t *testing.T) {
	s, inside := startInside(t)
	applied, err := inside.ApplyExamples(t.Context(), "../../configs/examples")
	require.NoError(t, err)
	require.Positive(t, applied)
	var flows struct{ Items []struct{ ID, Name string } }
	s.must(200, http.MethodGet, "/api/v1/jobs?jobType=WORKFLOW", nil, &flows)
	require.Len(t, flows.Items, 2)
	for _, flow := range flows.Items {
		s.must(202, http.MethodPost, "/api/v1/jobs/"+flow.ID+"/trigger", map[string]any{}, nil)
	}

	var asked struct {
		Items []struct{ ExecutionID, Text string }
	}
	s.await("an approval waits", "/api/v1/approvals?status=OPEN&mine=true", &asked, func() bool {
		return len(asked.Items) == 1
	})
	vote := map[string]any{"decision": "APPROVE"}
	s.must(200, http.MethodPost, "/api/v1/approvals/"+asked.Items[0].ExecutionID, vote, nil)
	var runs struct{ Items []flowRun }
	s.await("both runs are closed", "/api/v1/workflow-runs?phase=CLOSED", &runs, func() bool {
		return len(runs.Items) >= len(flows.Items)
	})
	seen := map[string]bool{}
	for _, run := range runs.Items {
		require.Equal(t, flowRun{Workflow: run.Workflow, Phase: "CLOSED", Status: "SUCCESS"}, run)
		seen[run.Workflow] = true
	}
	require.Len(t, seen, 2)
}
