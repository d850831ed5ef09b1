package explain

// The codes of steps of workflow runs.
const (
	FactStepUndecided  Code = "STEP_NOT_DECIDED"
	FactStepLive       Code = "STEP_LIVE"
	FactStepEnded      Code = "STEP_ENDED"
	FactStepHeld       Code = "STEP_HELD"
	FactStepApproval   Code = "STEP_APPROVAL"
	FactStepsMore      Code = "MORE_STEPS"
	FactStepsWait      Code = "STEPS_WAIT"
	FactStepNoNeeds    Code = "STEP_NEEDS_NOTHING"
	FactStepLast       Code = "STEP_RUNS_LAST"
	FactNeedMet        Code = "NEED_MET"
	FactNeedUnmet      Code = "NEED_NOT_MET"
	FactNeedOpen       Code = "NEED_OPEN"
	FactNeedHeld       Code = "NEED_HELD"
	FactJoinAny        Code = "JOIN_ANY"
	FactMinSuccess     Code = "MIN_SUCCESS"
	FactStepCondition  Code = "STEP_CONDITION"
	FactStepItems      Code = "STEP_ITEMS"
	FactStepTolerated  Code = "STEP_TOLERATED"
	FactStepAwaited    Code = "STEP_FAILURE_AWAITED"
	FactWorkflowPaused Code = "WORKFLOW_RUN_PAUSED"
)

// stepSentences are those of steps of workflow runs.
func stepSentences() []Sentence {
	return []Sentence{
		{"", FactStepUndecided, "nothing is decided of the step {step} yet"},
		{"", FactStepLive, "the step {step} is {status}[, it {waitsFor}][, until {until}]"},
		{"", FactStepEnded, "the step {step} ended as {status}[, at {time}][, {reason}][; {message}]"},
		{
			"", FactStepHeld,
			"the step {step} failed and is held until {until}: repeat it, skip it or call it a success",
		},
		{"", FactStepApproval, "the step {step} waits for people to approve it[, until {until}]"},
		{"", FactStepsMore, "and {count} (step|steps) more"},
		{
			"", FactStepsWait,
			"{count} (step waits|steps wait) until others have ended: {steps}[, and {more} (other|others)]",
		},
		{"", FactStepNoNeeds, "it needs no other step"},
		{"", FactStepLast, "it runs last, whatever became of the others (finally)"},
		{"", FactNeedMet, "it asks for {on} of {need}, which ended as {class}[, at {time}]: the need is met"},
		{"", FactNeedUnmet, "it asks for {on} of {need}, which ended as {class}[, at {time}]: the need is not met"},
		{"", FactNeedOpen, "it asks for {on} of {need}, which has not ended"},
		{"", FactNeedHeld, "it asks for {on} of {need}, which failed and is held until {until}"},
		{"", FactJoinAny, "one need that is met is enough (join ANY)"},
		{"", FactMinSuccess, "{succeeded} of its needs succeeded, and minSuccess is {minSuccess}"},
		{"", FactStepCondition, "it has the condition {when}"},
		{
			"", FactStepItems,
			"of {total} items {succeeded} succeeded, {failed} failed, {live} live, and {notRun} did not run",
		},
		{"", FactStepTolerated, "its failure is tolerated"},
		{"", FactStepAwaited, "an edge asks for its failure"},
		{"", FactWorkflowPaused, "the workflow run is paused, and decides nothing[: {error}]"},
	}
}
