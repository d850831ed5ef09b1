package workflowrun

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// way is how the rows of a list are found: the table that is read in the order of its ids, what narrows it by an index,
// and how the columns of the run and of its root are read beside.
type way struct {
	table, index          string
	narrow                listing.Condition
	workflow, phase, root string
}

// wayTo is the index that leads to the fewest rows. The others are looked up row by row: a join would let the optimizer
// begin elsewhere.
func (r *Runs) wayTo(f repository.WorkflowRunFilter) way {
	const runs, roots = "scheduler_workflow_run", "scheduler_job_execution"
	const phase = "(SELECT r.phase FROM " + runs + " r WHERE r.id = " + roots + ".id)"
	open := len(f.Phases) > 0 && !slices.Contains(f.Phases, workflow.PhaseClosed)
	switch {
	case f.WorkflowID != "":
		return way{roots, r.c.Dialect.ByJob, listing.Equals("job_id", f.WorkflowID), "job_id", phase, "status"}
	case open: // the root of a run that is not closed stands in the claim index
		return way{
			roots, r.c.Dialect.ByClaim, listing.Equals("claim_key", string(entity.OpenKey())), "job_id", phase, "status",
		}
	}
	return way{
		table: runs, workflow: runs + ".workflow_id", phase: "phase",
		root: "(SELECT e.status FROM " + roots + " e WHERE e.id = " + runs + ".id)",
	}
}

// WorkflowRunIDs implements repository.WorkflowRunLister.
func (r *Runs) WorkflowRunIDs(ctx context.Context, f repository.WorkflowRunFilter, p repository.Page) (
	[]string, string, error,
) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil || !sqlvalue.IsASCIIID(f.WorkflowID) {
		return nil, "", err
	}
	var lo, hi string
	if !f.From.IsZero() {
		lo = identity.FloorID(f.From)
	}
	if !f.To.IsZero() {
		hi = identity.FloorID(f.To)
	}
	if after != "" && (hi == "" || after < hi) {
		hi = after
	}
	w := r.wayTo(f)
	phases := f.Phases
	if len(phases) == 0 && w.index != "" { // there are executions without a run
		phases = workflow.Phases()
	}
	var phase, status listing.Condition
	if len(phases) > 0 {
		phase.Text = w.phase + " IN (" + dialect.Marks(len(phases)) + ")"
		for _, one := range phases {
			phase.Args = append(phase.Args, int(one))
		}
	}
	if f.Status != "" {
		status = listing.Condition{Text: w.root + " = ?", Args: []any{string(f.Status)}}
	}
	groups := execution.OfGroups(r.c.Dialect, w.workflow, f.Groups)
	return listing.WindowScan[string]{
		Conn: r.c, Statement: "run.list-window", Table: w.table + w.index, Key: "id", Where: w.narrow.Text,
		Args: w.narrow.Args,
		Page: func(ctx context.Context, lo, hi string, limit int) ([]string, string, error) {
			where, args := listing.JoinConditions(w.narrow, listing.IDBounds("id", lo, hi), phase, status, groups)
			ids, err := sqldb.Collect(ctx, r.c, "run.list", "SELECT id FROM "+w.table+w.index+where+
				" ORDER BY id DESC LIMIT ?", append(args, limit+1), sqlvalue.ScanText)
			if err != nil {
				return nil, "", err
			}
			ids, next := listing.CutPage(ids, limit, func(id string) string { return id })
			return ids, next, nil
		},
	}.Run(ctx, lo, hi, listing.PageSize(p.Limit))
}
