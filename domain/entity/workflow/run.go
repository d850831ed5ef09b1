package workflow

import (
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Run is a workflow run as it is stored beside its root execution.
type Run struct {
	// ID is that of the root.
	ID         string
	WorkflowID string
	// Version is the definition that the run keeps to.
	Version int
	// Seq counts the changes of the row. A decision that rests on another one is not stored.
	Seq   int64
	Phase Phase
	// State is encoded; it is empty until the first decision.
	State []byte
	// Wake is the next moment at which something follows from the time alone, in milliseconds; zero is never.
	Wake time.Time
	// Problem says why a run is paused that nobody paused, at most MaxProblem bytes.
	Problem    string
	CreateTime time.Time
	UpdateTime time.Time
}

// Schema is the schema version of the oldest program that knows workflow runs. The store refuses older ones as soon as
// there is a workflow.
const Schema = 82

// MaxProblem bounds Run.Problem, in bytes.
const MaxProblem = 1000

// StepID is the id of a step over all runs of its workflow, and the job of its executions.
func StepID(workflowID, name string) string {
	return identity.StepID(workflowID, name)
}

// ExecutionID is the id of an execution of a step within a run.
func ExecutionID(runID string, stepID string, key Key) string {
	at, _ := identity.TimeOf(runID) // ids of executions are made by identity
	return identity.ExecutionID(at, stepID, identity.StepKey(runID, key.String()), 0)
}

// StepRow says which step of which workflow a step id is of.
type StepRow struct{ ID, WorkflowID, Name string }

// Items of todos: each is a thing that a workflow run owes.
const (
	// OwesOpening: it has no state yet.
	OwesOpening = "OPEN"
	// OwesCancel: somebody wants it to stop.
	OwesCancel = "CANCEL"
	// OwesDelete: its workflow is gone.
	OwesDelete = "DELETE"
	// OwesEnds: all open runs of a workflow are to end. The row is of the workflow, not of a run.
	OwesEnds = "ENDS"
	// owesStart begins the item for a job that a step starts, whose key follows.
	owesStart = "START "
	// OwesStop: live steps are to be stopped.
	OwesStop = "STOP"
	// OwesClose: every step is final and stored.
	OwesClose = "CLOSE"
	// owesEnd begins the item for the end of a step, whose key follows.
	owesEnd = "END "
)

// OwesEnd is the item for the end of a step.
func OwesEnd(step string) string { return owesEnd + step }

// OwesEndOf is that for the end of an execution. Each shard has its own: a row that is being paid for one of them would
// hide the end of another.
func OwesEndOf(step string, e *entity.Execution) string {
	if e.ShardTotal <= 1 {
		return OwesEnd(step)
	}
	return OwesEnd(step) + " " + strconv.Itoa(e.ShardIndex)
}

// EndedStep is the step key of such an item; ok is false for others.
func EndedStep(item string) (step string, ok bool) {
	rest, ok := strings.CutPrefix(item, owesEnd)
	step, _, _ = strings.Cut(rest, " ")
	return step, ok
}

// OwesStart is the item for the job that a step names.
func OwesStart(step string) string { return owesStart + step }

// StartedStep is the step key of such an item; ok is false for others.
func StartedStep(item string) (step string, ok bool) { return strings.CutPrefix(item, owesStart) }

// Todo is what a run owes since a moment.
func Todo(runID, item string, now time.Time) entity.Todo {
	return entity.Todo{Run: runID, Kind: entity.TodoRun, Item: item, Time: now}
}

// CancelTodos are those of executions that are to stop: of open workflow runs and of maps alone.
func CancelTodos(asked []*entity.Execution, now time.Time) (todos []entity.Todo) {
	for _, e := range asked {
		if !e.Open() {
			continue
		}
		if run, step, ok := e.StepOf(); ok && e.Inline() {
			todos = append(todos, Todo(run, OwesEnd(step), now))
		} else {
			todos = append(todos, Todo(e.ID, OwesCancel, now))
		}
	}
	return todos
}
