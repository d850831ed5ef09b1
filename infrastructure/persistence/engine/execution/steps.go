package execution

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// runLook is how many executions of a workflow run one page of a list looks at.
const runLook = 5000

// withoutSteps reports whether a list leaves inline steps out. The id of a step as that of the job asks for them.
func withoutSteps(f repository.ExecutionFilter) bool {
	return !f.Steps && f.JobID == "" && f.RunID == ""
}

// noSteps is the condition that an execution is of no inline step. No index serves it, so that it changes no plan.
func noSteps(wanted bool) listing.Condition {
	if !wanted {
		return listing.Condition{}
	}
	return listing.Condition{Text: "SUBSTR(job_id, 1, ?) <> ?", Args: []any{len(identity.StepPrefix), identity.StepPrefix}}
}

// stepsOf is the condition that an execution is of a step of the workflow run, where one is given.
func stepsOf(runID string) listing.Condition {
	if runID == "" {
		return listing.Condition{}
	}
	first := identity.StepKey(runID, "")
	return listing.Condition{
		Text: "fire_key >= ? AND fire_key < ?", Args: []any{first, first[:len(first)-1] + ";"}, // which follows the colon
	}
}

// spanOfRun bounds the ids of the steps of a workflow run: they begin with its moment.
func spanOfRun(runID string) (lo, hi string, known bool) {
	at, known := identity.TimeOf(runID)
	return identity.FloorID(at), identity.FloorID(at.Add(time.Millisecond)), known
}

// narrower is what two spans of ids share; empty bounds are open.
func narrower(lo, hi, from, to string) (string, string) {
	if hi == "" || to < hi {
		hi = to
	}
	return max(lo, from), hi
}

// ofRun reads a page of the executions of a workflow run's steps. The index of jobs leads to those of each step, in the
// moment with which their ids begin.
func (r *Executions) ofRun(ctx context.Context, f repository.ExecutionFilter, lo, hi string, limit int,
) ([]*entity.Execution, string, error) {
	from, to, known := spanOfRun(f.RunID)
	jobs := sqlvalue.OnlyASCIIIDs(f.RunJobs)
	if !known || len(jobs) == 0 {
		return nil, "", nil
	}
	lo, hi = narrower(lo, hi, from, to)
	in, args := r.c.Dialect.In("job_id", jobs)
	where, args := listing.JoinConditions(listing.Condition{Text: in, Args: args}, listing.IDBounds("id", lo, hi))
	ids, err := sqldb.Collect(ctx, r.c, "execution.list-run", "SELECT id FROM scheduler_job_execution"+
		r.c.Dialect.ByJob+where+" ORDER BY id DESC LIMIT ?", append(args, runLook), sqlvalue.ScanText)
	if err != nil || len(ids) == 0 {
		return nil, "", err
	}
	last := ids[len(ids)-1]
	rows, next, err := r.among(ctx, ids, f, lo, hi, limit, nil)
	if err == nil && next == "" && len(ids) == runLook {
		next = repository.WriteCursor(last)
	}
	return rows, next, err
}
