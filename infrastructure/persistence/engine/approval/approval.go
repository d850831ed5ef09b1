// Package approval holds the rows of approvals in workflow runs, and of votes.
package approval

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const (
	columns = "a.execution_id, a.run_id, a.workflow_id, a.step_key, a.text, a.need, a.on_timeout, a.excluded, a.voters, " +
		"a.opened_time, a.until_at"
	read      = "SELECT " + columns + " FROM scheduler_approval a"
	readVotes = "SELECT execution_id, user_id, user_name, decision, comment, create_time FROM scheduler_approval_vote"
)

// Approvals reads approvals: repository.ApprovalReader.
type Approvals struct{ c *sqldb.Conn }

// New gives the repository over the connections of c.
func New(c *sqldb.Conn) *Approvals { return &Approvals{c} }

func scan(rows *sql.Rows) (b workflow.Ballot, err error) {
	var text, excluded, voters sql.NullString
	var opened sqlvalue.DBTime
	var until int64
	err = rows.Scan(&b.ExecutionID, &b.RunID, &b.WorkflowID, &b.StepKey, &text, &b.Need, &b.OnTimeout, &excluded, &voters,
		&opened, &until)
	if err == nil && voters.Valid {
		if err = json.Unmarshal([]byte(voters.String), &b.Voters); err != nil {
			return b, fmt.Errorf("the voters of the approval %s: %w", b.ExecutionID, err)
		}
	}
	b.Text, b.Excluded, b.OpenedTime, b.Until = text.String, excluded.String, opened.Time(), time.UnixMilli(until).UTC()
	return b, err
}

func scanVote(rows *sql.Rows) (v workflow.Vote, err error) {
	var comment sql.NullString
	var at sqlvalue.DBTime
	err = rows.Scan(&v.ExecutionID, &v.UserID, &v.User, &v.Decision, &comment, &at)
	v.Comment, v.Time = comment.String, at.Time()
	return v, err
}

// ApprovalsOf implements repository.ApprovalReader.
func (r *Approvals) ApprovalsOf(ctx context.Context, executionIDs []string) ([]workflow.Ballot, error) {
	return sqldb.CollectIn(ctx, r.c, "approval.read", read+" WHERE {in}", "a.execution_id",
		sqlvalue.OnlyASCIIIDs(executionIDs), scan)
}

// VotesOf implements repository.ApprovalReader.
func (r *Approvals) VotesOf(ctx context.Context, executionIDs []string) ([]workflow.Vote, error) {
	return votes(ctx, r.c, executionIDs)
}

func votes(ctx context.Context, c *sqldb.Conn, executionIDs []string) ([]workflow.Vote, error) {
	return sqldb.CollectIn(ctx, c, "approval.votes", readVotes+" WHERE {in} ORDER BY execution_id, create_time, user_id",
		"execution_id", sqlvalue.OnlyASCIIIDs(executionIDs), scanVote)
}

// writer implements repository.ApprovalWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.ApprovalWriter { return &writer{c} }

// AddApprovals implements repository.ApprovalWriter.
func (w *writer) AddApprovals(ctx context.Context, ballots []workflow.Ballot) error {
	return bulk.Insert(ctx, w.c, "approval.insert", "scheduler_approval (execution_id, run_id, workflow_id, step_key, text, "+
		"need, on_timeout, excluded, voters, opened_time, until_at)", 11, w.c.Dialect.OnDuplicateKeep("execution_id"), ballots,
		func(args []any, b workflow.Ballot) []any {
			var voters any
			if b.Voters != nil {
				list, _ := json.Marshal(b.Voters) // texts always marshal
				voters = string(list)
			}
			return append(args, b.ExecutionID, b.RunID, b.WorkflowID, b.StepKey, sqlvalue.TextOrNull(b.Text), b.Need,
				string(b.OnTimeout), sqlvalue.TextOrNull(b.Excluded), voters, sqlvalue.TimeText(b.OpenedTime),
				b.Until.UnixMilli())
		})
}

// AddVote implements repository.ApprovalWriter.
func (w *writer) AddVote(ctx context.Context, v workflow.Vote) error {
	_, err := w.c.Exec(ctx, "approval.vote", "INSERT INTO scheduler_approval_vote (execution_id, user_id, user_name, "+
		"decision, comment, create_time) VALUES (?, ?, ?, ?, ?, ?)", v.ExecutionID, v.UserID, v.User, string(v.Decision),
		sqlvalue.TextOrNull(v.Comment), sqlvalue.TimeText(v.Time))
	_ = failpoint.Hit(w.c.Transaction, "voted")
	return err
}

// Approval implements repository.ApprovalWriter.
func (w *writer) Approval(ctx context.Context, executionID string) (workflow.Ballot, bool, error) {
	return sqldb.First(ctx, w.c, "approval.one", read+" WHERE a.execution_id = ?", []any{executionID}, scan)
}

// Votes implements repository.ApprovalWriter.
func (w *writer) Votes(ctx context.Context, executionID string) ([]workflow.Vote, error) {
	return votes(ctx, w.c, []string{executionID})
}
