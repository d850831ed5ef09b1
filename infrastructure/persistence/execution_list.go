package persistence

import (
	"context"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Filters without an index are answered by reading runs from the newest back.
// scanWindow is how many runs one statement reads, maxWindows how many
// statements one page may cost; a page that found too little by then is
// returned short, with a cursor to go on.
const maxWindows = 10

// List implements repository.ExecutionReader. A page may hold fewer runs than
// asked for and still have a next one.
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
	if f.Status == "" && f.NodeID == "" && f.Trigger == "" && f.Groups == nil {
		return r.page(ctx, f, lo, hi, limit) // an index leads to every row
	}
	var out []*entity.Execution
	for range maxWindows {
		edge, err := r.windowEdge(ctx, f.JobID, lo, hi)
		if err != nil {
			return nil, "", err
		}
		from := lo
		if edge != "" {
			from = edge
		}
		rows, next, err := r.page(ctx, f, from, hi, limit-len(out))
		if err != nil {
			return nil, "", err
		}
		out = append(out, rows...)
		if next != "" || edge == "" {
			return out, next, nil
		}
		hi = edge
		if len(out) == limit {
			break
		}
	}
	return out, writeCursor(hi), nil
}

// windowEdge is the id that ends the window below hi, or "" when the rest is
// smaller than a window.
func (r *Executions) windowEdge(ctx context.Context, jobID, lo, hi string) (string, error) {
	where, args := r.conditions(repository.ExecutionFilter{JobID: jobID}, lo, hi)
	ids, err := collect(ctx, r.c, "execution.list-window", "SELECT id FROM scheduler_job_execution"+where+" ORDER BY id DESC LIMIT 1 OFFSET ?",
		append(args, r.c.d.scanWindow), scanText)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// page reads matching runs with lo ≤ id < hi, newest first.
func (r *Executions) page(ctx context.Context, f repository.ExecutionFilter, lo, hi string, limit int) ([]*entity.Execution, string, error) {
	where, args := r.conditions(f, lo, hi)
	rows, err := collect(ctx, r.c, "execution.list", selectExecutions+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanExecution)
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(e *entity.Execution) string { return e.ID })
	return rows, next, nil
}

// conditions renders a filter and lo ≤ id < hi, where empty bounds are open.
func (r *Executions) conditions(f repository.ExecutionFilter, lo, hi string) (string, []any) {
	var parts []string
	var args []any
	for _, c := range [...]struct{ condition, value string }{
		{"id >=", lo}, {"id <", hi}, {"job_id =", f.JobID}, {"status =", string(f.Status)}, {"node_id =", f.NodeID}, {"trigger_type =", string(f.Trigger)},
	} {
		if c.value != "" {
			parts, args = append(parts, c.condition+" ?"), append(args, c.value)
		}
	}
	if f.Groups != nil {
		of, groups := r.c.d.ofGroups("job_id", f.Groups)
		parts, args = append(parts, of), append(args, groups...)
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(parts, " AND "), args
}
