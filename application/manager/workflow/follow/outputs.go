package follow

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// TooLong implements completion.Outputs, by what is in memory. Items of maps may be long: their list is bounded as a
// whole.
func (c *Catalog) TooLong(e *entity.Execution, result string, cut bool) string {
	c.mu.Lock()
	row := c.known[e.JobID]
	w := c.workflows[version{row.WorkflowID, e.JobVersion}]
	c.mu.Unlock()
	if w == nil {
		return ""
	}
	i, known := w.Graph.Step(row.Name)
	if !known || !w.handedOn[i] {
		return ""
	}
	step := &w.Graph.Definition().Steps[i]
	if step.ForEach != nil {
		return ""
	}
	if cut {
		return fmt.Sprintf("the result is longer than %d bytes, and other steps read it: return less, or hand on where it is",
			workflow.MaxOutput-1)
	}
	if _, err := workflow.Output(step, result); err != nil {
		return err.Error()
	}
	return ""
}
