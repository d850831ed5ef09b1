package explain

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// reasons say in words what a reason of the ledger means.
var reasons = map[entity.Reason]string{
	entity.ReasonOverlap:   "the run before it had not ended, and the overlap policy of the job drops a fire then",
	entity.ReasonQueueFull: "as many fires as maxQueued allows were waiting already",
	entity.ReasonReplaced:  "a later fire took its place, by the overlap policy REPLACE",
	entity.ReasonMisfire: "no node could fire it in time: the server was down or could not reach its store; the misfire " +
		"policy of the job decided",
	entity.ReasonPaused:        "the job, its group or every job was paused",
	entity.ReasonNoNode:        "no node, and no worker, could take it in time",
	entity.ReasonDeadline:      "it did not start before its start deadline",
	entity.ReasonNodeLost:      "the node that ran it was lost",
	entity.ReasonShutdown:      "the node that ran it was stopped",
	entity.ReasonExitCode:      "the command ended with a code that is no success",
	entity.ReasonHTTPStatus:    "the target answered with a status that is not expected",
	entity.ReasonBodyMismatch:  "the answer of the target did not hold what is expected",
	entity.ReasonRedirected:    "the target redirected a call that is not sent on, as it may have had its effect",
	entity.ReasonTimeout:       "it ran longer than its timeoutSec",
	entity.ReasonPanic:         "the handler panicked",
	entity.ReasonInvalid:       "the definition could not be run as it stands",
	entity.ReasonSecretMissing: "a secret that the definition names is not there for the group of the job",
	entity.ReasonDeleted:       "the job was deleted",
	entity.ReasonError:         "the run failed",

	entity.ReasonCondition:       "the condition of the step did not hold",
	entity.ReasonUpstreamFailed:  "a step that it needs failed or was blocked, and no edge asks for that",
	entity.ReasonUpstreamSkipped: "steps that it needs were skipped, or ended otherwise than its edges ask for",
	entity.ReasonRunCancelled:    "its workflow run was cancelled, or took too long",
	entity.ReasonRunStopped:      "a failure stopped its workflow run",
	entity.ReasonStepFailed:      "a step of the workflow run failed, or too many items of the step did",
	entity.ReasonFinallyFailed:   "only a step that runs last failed",
	entity.ReasonRejected:        "a person rejected the approval, or nobody approved in time",
	entity.ReasonOutputTooLarge:  "its result is too long for the steps that read it",
	entity.ReasonOperator:        "a person decided it",
	entity.ReasonReused:          "its result is that of a former workflow run",
}

// waits say in words what a fire waits for.
var waits = map[entity.Wait]string{
	entity.WaitSlot:    "every node that may take it is at its slots",
	entity.WaitNode:    "no node that is up carries the labels that the job asks for",
	entity.WaitCommand: "no node that is up runs commands",
	entity.WaitHandler: "no node that is up has the handler of the job, or no worker of its group",
	entity.WaitWorker:  "no worker of the group is up that has what the job asks for",
	entity.WaitTime:    "its time, or that of its next attempt, has not come",
	entity.WaitJob:     "the fires of the job before it are not over",
	entity.WaitGroup:   "the group of the job is at its limit",

	entity.WaitApproval: "people have to approve it",
}

// meaning is a reason and what it means.
func meaning(r entity.Reason) string {
	if text := reasons[r]; text != "" {
		return string(r) + ": " + text
	}
	return string(r)
}

// waitsFor says what a run waits for.
func waitsFor(w entity.Wait) string {
	if text := waits[w]; text != "" {
		return "waits: " + text
	}
	return "waits"
}
