package alerting

import (
	"fmt"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Standing is a workflow run that stands for people since a moment.
type Standing struct {
	// Type is STEP_HELD or APPROVAL_WAITING.
	Type alert.RuleType
	At   time.Time
	// ExecutionID is that of the step, StepKey its key in the run.
	ExecutionID, StepKey, RunID string
	// Until is when the run goes on without anybody.
	Until time.Time
	// Text is what voters are asked, and Need how many have to approve.
	Text string
	Need int
}

// OnStanding asks a rule about a workflow run that stands for people.
func OnStanding(r *alert.Rule, flow Job, st Standing) (s Signal, found bool) {
	if !r.Enabled || r.Type != st.Type || !flow.SeenBy(r) {
		return s, false
	}
	until := st.Until.UTC().Format(time.RFC3339)
	s = Signal{
		Rule: r, Subject: st.ExecutionID, Evidence: st.ExecutionID, At: st.At, JobID: flow.ID, Group: flow.Group,
		ExecutionID: st.ExecutionID, Labels: jobLabels(flow),
		Details: flow.details(map[string]string{"step": st.StepKey, "run": st.RunID, "until": until}),
		Content: fmt.Sprintf("The step %s of the workflow %s has failed and is held until %s: repeat it, skip it, or "+
			"call it a success.", st.StepKey, flow.Name, until),
	}
	if st.Type == alert.ApprovalWaiting {
		s.Details["need"], s.Details["text"] = strconv.Itoa(st.Need), cut(st.Text)
		s.Content = fmt.Sprintf("The step %s of the workflow %s waits for an approval until %s.", st.StepKey, flow.Name,
			until)
	}
	return s, true
}
