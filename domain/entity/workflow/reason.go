package workflow

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// The reasons of steps of workflows and of their roots (docs/workflows.md). The API does not
// answer them yet, so they stand here and not among those of all executions.
const (
	ReasonCondition       entity.Reason = "CONDITION"
	ReasonUpstreamFailed  entity.Reason = "UPSTREAM_FAILED"
	ReasonUpstreamSkipped entity.Reason = "UPSTREAM_SKIPPED"
	ReasonRunCancelled    entity.Reason = "RUN_CANCELLED"
	ReasonRunStopped      entity.Reason = "RUN_STOPPED"
	ReasonStepFailed      entity.Reason = "STEP_FAILED"
	ReasonFinallyFailed   entity.Reason = "FINALLY_FAILED"
	ReasonRejected        entity.Reason = "REJECTED"
	ReasonOutputTooLarge  entity.Reason = "OUTPUT_TOO_LARGE"
	ReasonOperator        entity.Reason = "OPERATOR"
	ReasonReused          entity.Reason = "REUSED"
)
