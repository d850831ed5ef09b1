package persistence

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// List implements repository.ExecutionReader.
func (r *Executions) List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) ([]*entity.Execution, string, error) {
	after, err := readCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !plain(f.JobID) || !plain(f.NodeID) {
		return nil, "", nil
	}
	limit := pageSize(p.Limit)
	lo, hi := idRange(f)
	if after != "" && (hi == "" || after < hi) {
		hi = after
	}
	if f.Status == "" && f.NodeID == "" && f.Trigger == "" && f.WaitsFor == "" && f.Groups == nil {
		return r.page(ctx, f, lo, hi, limit) // an index leads to every row
	}
	if spans := liveSpans(f); len(spans) > 0 && f.JobID == "" {
		if ids, few, err := r.live(ctx, spans); few || err != nil {
			return r.among(ctx, ids, f, lo, hi, limit, err)
		}
	}
	ofJob := equals("job_id", f.JobID)
	return walk[*entity.Execution]{
		c: r.c, statement: "execution.list-window", table: "scheduler_job_execution", key: "id", where: ofJob.text, args: ofJob.args,
		page: func(ctx context.Context, lo, hi string, limit int) ([]*entity.Execution, string, error) {
			return r.page(ctx, f, lo, hi, limit)
		},
	}.run(ctx, lo, hi, limit)
}

// page reads matching runs with lo ≤ id < hi, newest first.
func (r *Executions) page(ctx context.Context, f repository.ExecutionFilter, lo, hi string, limit int) ([]*entity.Execution, string, error) {
	rows, err := r.matching(ctx, f, idBounds("id", lo, hi), limit+1)
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(e *entity.Execution) string { return e.ID })
	return rows, next, nil
}

// matching reads up to n runs that a filter and a condition on ids leave,
// newest first.
func (r *Executions) matching(ctx context.Context, f repository.ExecutionFilter, ids condition, n int) ([]*entity.Execution, error) {
	where, args := joinConditions(ids, equals("job_id", f.JobID), equals("status", string(f.Status)), atNode(f.NodeID),
		equals("trigger_type", string(f.Trigger)), waitsFor(f.WaitsFor), ofGroups(r.c.d, "job_id", f.Groups))
	return collect(ctx, r.c, "execution.list", selectViews+where+" ORDER BY id DESC LIMIT ?", append(args, n), scanView)
}

// fewLive is how many runs of a state the claim index is asked for. When there
// are more, the newest of them are soon found by reading all runs.
const fewLive = 5000

// atNode is the condition that runs are of a node, or wait in its queue.
func atNode(id string) condition {
	if id == "" {
		return condition{}
	}
	queue := entity.NodeQueueSpan(id)
	return condition{"(node_id = ? OR claim_key >= ? AND claim_key < ?)", []any{id, string(queue.Lo), string(queue.Hi)}}
}

// waitsFor is the condition that runs wait for something.
func waitsFor(w entity.Wait) condition {
	var parts []string
	var args []any
	for _, s := range w.Spans() {
		parts, args = append(parts, "claim_key >= ? AND claim_key < ?"), append(args, string(s.Lo), string(s.Hi))
	}
	if len(parts) == 0 {
		return condition{}
	}
	return condition{"(" + strings.Join(parts, " OR ") + ")", args}
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
		part, err := collect(ctx, r.c, "execution.list-live", "SELECT id FROM scheduler_job_execution"+r.c.d.byClaim+
			" WHERE claim_key >= ? AND claim_key < ? LIMIT ?", []any{string(span.Lo), string(span.Hi), fewLive + 1 - len(ids)}, scanText)
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
func (r *Executions) among(ctx context.Context, ids []string, f repository.ExecutionFilter, lo, hi string, limit int, err error) ([]*entity.Execution, string, error) {
	if err != nil {
		return nil, "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id < lo || hi != "" && id >= hi })
	slices.SortFunc(ids, func(a, b string) int { return compare(b, a) })
	var out []*entity.Execution
	for _, part := range chunks(ids, r.c.d.maxRows) {
		in, args := r.c.d.in("id", part)
		rows, err := r.matching(ctx, f, condition{in, args}, limit+1-len(out))
		if err != nil {
			return nil, "", err
		}
		if out = append(out, rows...); len(out) > limit {
			break
		}
	}
	out, next := cutPage(out, limit, func(e *entity.Execution) string { return e.ID })
	return out, next, nil
}

// ofGroups is the condition that a job is in one of the groups, where there
// are any; column holds its id. The job of each row is looked up by its id: a
// join would let the optimizer begin with all jobs of the groups.
func ofGroups(d *dialect, column string, groups []string) condition {
	if groups == nil {
		return condition{}
	}
	in, args := d.inAny("(SELECT group_name FROM scheduler_job_definition WHERE id = "+column+")", groups)
	return condition{in, args}
}
