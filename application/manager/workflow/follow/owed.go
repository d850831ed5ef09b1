package follow

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Steps is the observer of ends by which workflow runs owe a decision about the end of each step. Plain jobs cost one
// look at their fire key.
type Steps struct{}

// Ended implements event.EndObserver. A row that the decision itself ends is no news for it.
func (Steps) Ended(ended []*entity.Execution, now time.Time) (rows event.EndRows) {
	for _, e := range ended {
		if run, step, ok := e.StepOf(); ok && !e.Decided {
			rows.Todos = append(rows.Todos, wf.Todo(run, wf.OwesEndOf(step, e), now))
		}
	}
	return rows
}
