package repository

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// ApprovalWriter keeps approvals and votes, inside a transaction.
type ApprovalWriter interface {
	// AddApprovals inserts approvals that open; one that is there stays as it is.
	AddApprovals(ctx context.Context, ballots []workflow.Ballot) error
	// AddVote inserts a vote. The key refuses a second one of the same user.
	AddVote(ctx context.Context, v workflow.Vote) error
	// Approval and Votes are what ApprovalReader gives of one execution; ok is false for an unknown one.
	Approval(ctx context.Context, executionID string) (b workflow.Ballot, ok bool, err error)
	Votes(ctx context.Context, executionID string) ([]workflow.Vote, error)
}

// ApprovalReader reads approvals.
type ApprovalReader interface {
	// ApprovalsOf are those of executions that exist, in no order.
	ApprovalsOf(ctx context.Context, executionIDs []string) ([]workflow.Ballot, error)
	// VotesOf are the votes about executions, the oldest first.
	VotesOf(ctx context.Context, executionIDs []string) ([]workflow.Vote, error)
	// ListApprovals is ordered by execution id, newest first. Where no index serves the filter a page may be short, or
	// empty, and still have a next one.
	ListApprovals(ctx context.Context, f ApprovalFilter, p Page) (ballots []workflow.Ballot, next string, err error)
}

// ApprovalState says which approvals are asked for.
type ApprovalState string

// The states; the empty one is both.
const (
	ApprovalOpen    ApprovalState = "OPEN"
	ApprovalDecided ApprovalState = "DECIDED"
)

// ApprovalStates lists the states.
func ApprovalStates() []ApprovalState { return []ApprovalState{ApprovalOpen, ApprovalDecided} }

// ApprovalFilter narrows a list of approvals.
type ApprovalFilter struct {
	State ApprovalState
	// Groups are those of workflows that may be seen, beside what names the user as a voter; nil is all.
	Groups []string
	UserID string
	// Mine leaves those in which the user has a vote: by name, or by the permission in VoteIn, where nil is all groups.
	Mine   bool
	VoteIn []string
}
