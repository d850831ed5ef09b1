package statistics

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Codes are the positions in these tables, and stored: a table only grows, at its end.
// Position 0 is what nobody has, or what this release does not know.
var (
	statuses = [...]entity.Status{
		"", entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled,
		entity.StatusSkipped, entity.StatusDead,
	}
	triggers = [...]entity.Trigger{
		"", entity.TriggerSchedule, entity.TriggerManual, entity.TriggerAPI, entity.TriggerRetry, entity.TriggerMisfire,
		entity.TriggerDependency,
	}
	reasons = [...]entity.Reason{
		entity.ReasonNone, entity.ReasonOverlap, entity.ReasonQueueFull, entity.ReasonReplaced, entity.ReasonMisfire,
		entity.ReasonPaused, entity.ReasonNoNode, entity.ReasonDeadline, entity.ReasonNodeLost, entity.ReasonShutdown,
		entity.ReasonExitCode, entity.ReasonHTTPStatus, entity.ReasonBodyMismatch, entity.ReasonPanic,
		entity.ReasonInvalid, entity.ReasonDeleted, entity.ReasonSecretMissing, entity.ReasonTimeout, entity.ReasonError,
		entity.ReasonRedirected, entity.ReasonCondition, entity.ReasonUpstreamFailed, entity.ReasonUpstreamSkipped,
		entity.ReasonRunCancelled, entity.ReasonRunStopped, entity.ReasonStepFailed, entity.ReasonFinallyFailed,
		entity.ReasonRejected, entity.ReasonOutputTooLarge, entity.ReasonOperator, entity.ReasonReused,
	}
)

// codeOf is the position of a name, 0 if it has none.
func codeOf[T ~string](table []T, name T) byte {
	return byte(max(slices.Index(table, name), 0))
}

// nameOf is the name of a code. A newer release may have written one that is not
// known here: that is no error, and has no name.
func nameOf[T ~string](table []T, code byte) (name T) {
	if int(code) < len(table) {
		name = table[code]
	}
	return name
}
