package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/storeretry"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// candidate is a row that may start on this node with the transaction that inserts it.
type candidate struct {
	p   *passage
	row int
	job *entity.Job
}

// reserve takes slots of this node for steps that start in one transaction, the most urgent first (engine rule 14). An
// edge then costs no claim. The caller closes the batch.
func (f *Follower) reserve(part []*passage) *direct.Batch {
	var all []candidate
	var wanted entity.Slots
	for _, p := range part {
		p.direct = nil
		for i, row := range p.rows {
			if job, starts := p.starts(row); starts && direct.May(f.Runner, job) {
				all = append(all, candidate{p, i, job})
				wanted[job.SlotKind()]++
			}
		}
	}
	starts := direct.Reserve(f.Slots, f.Runner, wanted)
	left := starts.Reserved()
	if left != wanted {
		slices.SortStableFunc(all, func(a, b candidate) int { return b.job.Priority - a.job.Priority })
	}
	for _, c := range all {
		if kind := c.job.SlotKind(); left[kind] > 0 {
			left[kind]--
			if c.p.direct == nil {
				c.p.direct = map[int]bool{}
			}
			c.p.direct[c.row] = true
		}
	}
	return starts
}

// starts is the definition of a step that a row lets wait for a slot, and whether it does.
func (p *passage) starts(row workflow.Row) (*entity.Job, bool) {
	step := &p.flow.Graph.Definition().Steps[row.Step]
	return p.flow.steps[row.Step], row.Kind == workflow.RowStart && step.Job == nil && step.Approval == nil &&
		p.moments[row.Step].IsZero()
}

// reread starts what an unanswered commit has stored for this node (engine rule 9). The runs are decided about again by
// what the store holds.
func (f *Follower) reread(ctx context.Context, starts *direct.Batch, w *writing) error {
	if len(w.direct) == 0 {
		return nil
	}
	var stored map[string]*entity.Execution
	err := storeretry.Read(ctx, f.Clock, func() error {
		rows, err := f.Executions.ByIDs(ctx, convert.All(w.direct, func(r entity.Run) string { return r.Execution.ID }))
		stored = entity.ByID(rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("re-read steps after an unanswered commit: %w", err)
	}
	runs := slices.DeleteFunc(slices.Clone(w.direct), func(r entity.Run) bool {
		s := stored[r.Execution.ID]
		return s == nil || !s.HeldAs(r.Execution)
	})
	f.Logger.Warn("a commit was not answered; its steps were read again", "steps", len(w.direct), "started", len(runs))
	starts.Start(runs)
	return nil
}
