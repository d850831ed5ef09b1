package execution

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/owner"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// List implements repository.ExecutionReader.
func (r *Executions) List(ctx context.Context, f repository.ExecutionFilter,
	p repository.Page,
) ([]*entity.Execution, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !sqlvalue.IsASCIIID(f.JobID) || !sqlvalue.IsASCIIID(f.NodeID) {
		return nil, "", nil
	}
	limit := listing.PageSize(p.Limit)
	lo, hi := idRange(f)
	if after != "" && (hi == "" || after < hi) {
		hi = after
	}
	if f.RunID != "" {
		return r.ofRun(ctx, f, lo, hi, limit)
	}
	if f.Status == "" && f.NodeID == "" && f.Trigger == "" && f.WaitsFor == "" && f.Groups == nil {
		all := f
		all.Steps = true
		rows, next, err := r.page(ctx, all, lo, hi, limit) // an index leads to every row
		if err != nil || !withoutSteps(f) || !slices.ContainsFunc(rows, (*entity.Execution).Inline) {
			return rows, next, err
		}
	}
	if spans := liveSpans(f); len(spans) > 0 && f.JobID == "" {
		if ids, few, err := r.live(ctx, spans); few || err != nil {
			return r.among(ctx, ids, f, lo, hi, limit, err)
		}
	}
	ofJob := listing.Equals("job_id", f.JobID)
	return listing.WindowScan[*entity.Execution]{
		Conn: r.c, Statement: "execution.list-window", Table: "scheduler_job_execution", Key: "id", Where: ofJob.Text,
		Args: ofJob.Args,
		Page: func(ctx context.Context, lo, hi string, limit int) ([]*entity.Execution, string, error) {
			return r.page(ctx, f, lo, hi, limit)
		},
	}.Run(ctx, lo, hi, limit)
}

// page reads matching runs with lo ≤ id < hi, newest first.
func (r *Executions) page(ctx context.Context, f repository.ExecutionFilter, lo, hi string,
	limit int,
) ([]*entity.Execution, string, error) {
	rows, err := r.matching(ctx, f, listing.IDBounds("id", lo, hi), limit+1)
	if err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(e *entity.Execution) string { return e.ID })
	return rows, next, nil
}

// matching reads up to n runs that a filter and a condition on ids leave,
// newest first.
func (r *Executions) matching(ctx context.Context, f repository.ExecutionFilter, ids listing.Condition,
	n int,
) ([]*entity.Execution, error) {
	where, args := listing.JoinConditions(ids, listing.Equals("job_id", f.JobID),
		listing.Equals("status", string(f.Status)), atNode(f.NodeID),
		listing.Equals("trigger_type", string(f.Trigger)), waitsFor(f.WaitsFor), noSteps(withoutSteps(f)),
		stepsOf(f.RunID), OfGroups(r.c.Dialect, "job_id", f.Groups))
	return sqldb.Collect(ctx, r.c, "execution.list", selectViews+where+" ORDER BY id DESC LIMIT ?", append(args, n),
		scanView)
}

// fewLive is how many runs of a state the claim index is asked for. When there
// are more, the newest of them are soon found by reading all runs.
const fewLive = 5000

// atNode is the condition that runs are of a node, or wait in its queue.
func atNode(id string) listing.Condition {
	if id == "" {
		return listing.Condition{}
	}
	queue := entity.NodeQueueSpan(id)
	return listing.Condition{
		Text: "(node_id = ? OR claim_key >= ? AND claim_key < ?)",
		Args: []any{id, string(queue.Lo), string(queue.Hi)},
	}
}

// waitsFor is the condition that runs wait for something.
func waitsFor(w entity.Wait) listing.Condition {
	var parts []string
	var args []any
	for _, s := range w.Spans() {
		parts, args = append(parts, "claim_key >= ? AND claim_key < ?"), append(args, string(s.Lo), string(s.Hi))
	}
	if len(parts) == 0 {
		return listing.Condition{}
	}
	return listing.Condition{Text: "(" + strings.Join(parts, " OR ") + ")", Args: args}
}

// liveSpans are the parts of the claim index that hold what a filter asks for,
// where only live runs can match it.
func liveSpans(f repository.ExecutionFilter) []entity.ClaimSpan {
	switch {
	case f.WaitsFor != "":
		return f.WaitsFor.Spans()
	case f.Status == entity.StatusRunning:
		return entity.RunningSpans()
	case f.Status == entity.StatusWaiting:
		return entity.WaitingSpans()
	}
	return nil
}

// live lists the runs in parts of the claim index, which holds live runs alone,
// in no order. When they are many, few is false.
func (r *Executions) live(ctx context.Context, spans []entity.ClaimSpan) (ids []string, few bool, err error) {
	for _, span := range spans {
		part, err := sqldb.Collect(ctx, r.c, "execution.list-live",
			"SELECT id FROM scheduler_job_execution"+r.c.Dialect.ByClaim+
				" WHERE claim_key >= ? AND claim_key < ? LIMIT ?", []any{string(span.Lo), string(span.Hi), fewLive + 1 - len(ids)},
			sqlvalue.ScanText)
		if err != nil {
			return nil, false, err
		}
		if ids = append(ids, part...); len(ids) > fewLive {
			return nil, false, nil
		}
	}
	return ids, true, nil
}

// among reads a page of the matching ones among runs.
func (r *Executions) among(ctx context.Context, ids []string, f repository.ExecutionFilter, lo, hi string, limit int,
	err error,
) ([]*entity.Execution, string, error) {
	if err != nil {
		return nil, "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id < lo || hi != "" && id >= hi })
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	var out []*entity.Execution
	for part := range slices.Chunk(ids, r.c.Dialect.MaxRows) {
		in, args := r.c.Dialect.In("id", part)
		rows, err := r.matching(ctx, f, listing.Condition{Text: in, Args: args}, limit+1-len(out))
		if err != nil {
			return nil, "", err
		}
		if out = append(out, rows...); len(out) > limit {
			break
		}
	}
	out, next := listing.CutPage(out, limit, func(e *entity.Execution) string { return e.ID })
	return out, next, nil
}

// OfGroups is the condition that a job, or the workflow of a step, is in one of the groups, where there are any; column
// holds its id.
func OfGroups(d *dialect.Dialect, column string, groups []string) listing.Condition {
	if groups == nil {
		return listing.Condition{}
	}
	in, args := d.InAny(owner.Group(column), groups)
	return listing.Condition{Text: in, Args: args}
}
