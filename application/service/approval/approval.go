// Package approval shows the approvals of workflow runs, and takes votes.
package approval

import (
	"context"
	"fmt"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Caller is who asks.
type Caller struct {
	UserID, Name string
	// Sees reports whether the workflows of a group exist for the caller, Holds whether the caller has the permission
	// workflow:approve there now.
	Sees, Holds func(group string) bool
}

// Approval is what is shown of one.
type Approval struct {
	wf.Ballot
	Votes []wf.Vote
	// Execution is that of the step. Workflow and Group are the names of today.
	Execution       *entity.Execution
	Workflow, Group string
	// MayVote: the caller has a vote and has not cast it, and it is open.
	MayVote bool
}

// ApprovalService shows approvals, and takes votes. Safe for concurrent use.
type ApprovalService struct {
	Approvals  repository.ApprovalReader
	Executions repository.ExecutionReader
	Jobs       repository.JobReader
	Ballots    *manager.Ballots
}

// List returns a page of approvals, newest first.
func (s *ApprovalService) List(ctx context.Context, f repository.ApprovalFilter, p repository.Page, who Caller) (
	[]Approval, string, error,
) {
	ballots, next, err := s.Approvals.ListApprovals(ctx, f, p)
	if err != nil {
		return nil, "", err
	}
	found, err := s.whole(ctx, ballots, who)
	return found, next, err
}

// Get returns one that the caller may see; apperror.KindNotFound for others.
func (s *ApprovalService) Get(ctx context.Context, executionID string, who Caller) (Approval, error) {
	ballots, err := s.Approvals.ApprovalsOf(ctx, []string{executionID})
	if err != nil {
		return Approval{}, err
	}
	found, err := s.whole(ctx, ballots, who)
	if err != nil {
		return Approval{}, err
	}
	if len(found) == 0 || !who.Sees(found[0].Group) && !found[0].Names(who.UserID) {
		return Approval{}, apperror.NotFound("approval", executionID)
	}
	return found[0], nil
}

// Vote casts the vote of the caller, and returns the approval after it.
func (s *ApprovalService) Vote(ctx context.Context, v wf.Vote, who Caller) (Approval, error) {
	shown, err := s.Get(ctx, v.ExecutionID, who)
	if err != nil {
		return Approval{}, err
	}
	v.UserID, v.User = who.UserID, who.Name
	err = s.Ballots.Cast(ctx, v, func(b *wf.Ballot) error { return refusal(b, who, shown.Group) })
	if err != nil {
		return Approval{}, err
	}
	return s.Get(ctx, v.ExecutionID, who)
}

// refusal says why the caller has no vote; nil where the caller has one.
func refusal(b *wf.Ballot, who Caller, group string) error {
	switch {
	case workflow.HasVote(b, who.UserID, who.Holds(group)):
		return nil
	case b.Excluded == who.UserID:
		return apperror.New(apperror.KindForbidden, "triggered_by_you",
			"you triggered the workflow run, and its approval is for others (notBy: TRIGGERER)")
	case b.ByPermission():
		return apperror.New(apperror.KindForbidden, "forbidden",
			"you do not hold the permission workflow:approve in the group "+group)
	}
	return apperror.New(apperror.KindForbidden, "no_voter",
		"you are none of those who could vote when the approval opened; ask one of them")
}

// whole adds to approvals what stands elsewhere.
func (s *ApprovalService) whole(ctx context.Context, ballots []wf.Ballot, who Caller) ([]Approval, error) {
	if len(ballots) == 0 {
		return nil, nil
	}
	ids := convert.All(ballots, func(b wf.Ballot) string { return b.ExecutionID })
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the executions of %d approvals: %w", len(ids), err)
	}
	votes, err := s.Approvals.VotesOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the votes of %d approvals: %w", len(ids), err)
	}
	jobs := convert.All(ballots, func(b wf.Ballot) string { return b.WorkflowID })
	titles, err := s.Jobs.Titles(ctx, jobs)
	if err != nil {
		return nil, err
	}
	byID, cast := entity.ByID(rows), map[string][]wf.Vote{}
	for _, v := range votes {
		cast[v.ExecutionID] = append(cast[v.ExecutionID], v)
	}
	found := make([]Approval, 0, len(ballots))
	for _, b := range ballots {
		e := byID[b.ExecutionID]
		if e == nil {
			continue // retention has just deleted it
		}
		title := titles[b.WorkflowID]
		a := Approval{Ballot: b, Votes: cast[b.ExecutionID], Execution: e, Workflow: title.Name, Group: title.Group}
		a.MayVote = entity.ApprovalSpan().Of(e.Claim) && workflow.HasVote(&b, who.UserID, who.Holds(a.Group))
		for _, v := range a.Votes {
			a.MayVote = a.MayVote && v.UserID != who.UserID
		}
		found = append(found, a)
	}
	return found, nil
}
