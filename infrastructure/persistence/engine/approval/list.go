package approval

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// ListApprovals implements repository.ApprovalReader. The claim index leads to those that are open.
func (r *Approvals) ListApprovals(ctx context.Context, f repository.ApprovalFilter, p repository.Page) (
	[]workflow.Ballot, string, error,
) {
	before, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	if f.State == repository.ApprovalOpen {
		return r.page(ctx, f, "", before, limit)
	}
	return listing.WindowScan[workflow.Ballot]{
		Conn: r.c, Statement: "approval.list-window", Table: "scheduler_approval", Key: "execution_id",
		Page: func(ctx context.Context, lo, hi string, limit int) ([]workflow.Ballot, string, error) {
			return r.page(ctx, f, lo, hi, limit)
		},
	}.Run(ctx, "", before, limit)
}

func (r *Approvals) page(ctx context.Context, f repository.ApprovalFilter, lo, hi string, limit int) (
	[]workflow.Ballot, string, error,
) {
	where, args := listing.JoinConditions(state(f.State), r.seen(f), r.mine(f), listing.IDBounds("a.execution_id", lo, hi))
	found, err := sqldb.Collect(ctx, r.c, "approval.list", read+where+" ORDER BY a.execution_id DESC LIMIT ?",
		append(args, limit+1), scan)
	if err != nil {
		return nil, "", err
	}
	found, next := listing.CutPage(found, limit, func(b workflow.Ballot) string { return b.ExecutionID })
	return found, next, nil
}

// state is the condition that an approval is open, or decided.
func state(s repository.ApprovalState) listing.Condition {
	open := entity.ApprovalSpan()
	bounds := []any{string(open.Lo), string(open.Hi)}
	const of = "(SELECT id FROM scheduler_job_execution WHERE claim_key >= ? AND claim_key < ?)"
	switch s {
	case repository.ApprovalOpen:
		return listing.Condition{Text: "a.execution_id IN " + of, Args: bounds}
	case repository.ApprovalDecided:
		return listing.Condition{Text: "a.execution_id NOT IN " + of, Args: bounds}
	}
	return listing.Condition{}
}

// ofGroups is the condition that the workflow is in one of the groups.
func (r *Approvals) ofGroups(groups []string) (string, []any) {
	return r.c.Dialect.InAny("(SELECT group_name FROM scheduler_job_definition WHERE id = a.workflow_id)", groups)
}

// named is the condition that the user has a vote by name. Ids are between quotes in the list, and have no sign that
// LIKE knows.
func named(userID string) (string, []any) { return "a.voters LIKE ?", []any{`%"` + userID + `"%`} }

func (r *Approvals) seen(f repository.ApprovalFilter) listing.Condition {
	if f.Groups == nil {
		return listing.Condition{}
	}
	in, args := r.ofGroups(f.Groups)
	if !sqlvalue.IsASCIIID(f.UserID) || f.UserID == "" {
		return listing.Condition{Text: in, Args: args}
	}
	name, who := named(f.UserID)
	return listing.Condition{
		Text: "(" + in + " OR " + name + " AND (a.excluded IS NULL OR a.excluded <> ?))",
		Args: append(append(args, who...), f.UserID),
	}
}

func (r *Approvals) mine(f repository.ApprovalFilter) listing.Condition {
	if !f.Mine {
		return listing.Condition{}
	}
	name, args := named(f.UserID)
	held := "1 = 1"
	if f.VoteIn != nil {
		in, groups := r.ofGroups(f.VoteIn)
		held, args = in, append(args, groups...)
	}
	return listing.Condition{
		Text: "(" + name + " OR a.voters IS NULL AND " + held + ") AND (a.excluded IS NULL OR a.excluded <> ?)",
		Args: append(args, f.UserID),
	}
}
