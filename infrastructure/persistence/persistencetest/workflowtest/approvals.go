package workflowtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Approvals is the contract of approvals and votes.
func Approvals(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	const ann, bob = "01a1f8d3-0000-7000-8000-00000000000a", "01a1f8d3-0000-7000-8000-00000000000b"
	mine, others := storetest.PlannedJob(1, noon), storetest.PlannedJob(2, noon)
	others.Group = "pay"
	storetest.Add(t, s, []*entity.Job{mine, others})
	row := func(job *entity.Job, after time.Duration) *entity.Execution {
		e := storetest.RunOf(job.ID, noon.Add(after))
		e.WaitForApproval(noon.Add(time.Hour))
		return e
	}
	named, held, foreign := row(mine, 0), row(mine, time.Second), row(others, 2*time.Second)
	over := storetest.Ended(row(mine, 3*time.Second), noon)
	storetest.Add(t, s, nil, named, held, foreign, over)
	ballot := func(e *entity.Execution, voters ...string) workflow.Ballot {
		return workflow.Ballot{
			ExecutionID: e.ID, RunID: e.ID, WorkflowID: e.JobID, StepKey: "ok~2", Text: "go? 上线", Need: 2,
			OnTimeout: workflow.TimeoutFails, Voters: voters, OpenedTime: noon, Until: noon.Add(time.Hour + time.Millisecond),
		}
	}
	all := []workflow.Ballot{ballot(named, ann, bob), ballot(held), ballot(foreign, bob), ballot(over)}
	all[1].Excluded = ann
	for range 2 { // one that is opened again stays as it is
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Approvals.AddApprovals(ctx, all)
		})
	}
	found, err := s.ApprovalsOf(t.Context(), []string{named.ID, held.ID, "nobody"})
	require.NoError(t, err)
	require.ElementsMatch(t, all[:2], found)

	vote := func(user string, at time.Time) workflow.Vote {
		return workflow.Vote{
			ExecutionID: named.ID, UserID: user, User: "name of " + user, Decision: workflow.Approved,
			Comment: "good 好", Time: at,
		}
	}
	cast := []workflow.Vote{vote(bob, noon), vote(ann, noon.Add(time.Second))}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for _, v := range cast {
			if err := tx.Approvals.AddVote(ctx, v); err != nil {
				return err
			}
		}
		b, ok, err := tx.Approvals.Approval(ctx, named.ID)
		require.True(t, ok)
		require.Equal(t, all[0], b)
		return err
	})
	votes, err := s.VotesOf(t.Context(), []string{named.ID, held.ID})
	require.NoError(t, err)
	require.Equal(t, cast, votes, "the oldest first")
	require.Error(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Approvals.AddVote(ctx, vote(ann, noon.Add(time.Minute)))
	}), "a person has one vote")

	for _, c := range []struct {
		name string
		f    repository.ApprovalFilter
		want []string
	}{
		{"all", repository.ApprovalFilter{}, []string{over.ID, foreign.ID, held.ID, named.ID}},
		{"open", repository.ApprovalFilter{State: repository.ApprovalOpen}, []string{foreign.ID, held.ID, named.ID}},
		{"decided", repository.ApprovalFilter{State: repository.ApprovalDecided}, []string{over.ID}},
		{
			"of groups, and by name",
			repository.ApprovalFilter{State: repository.ApprovalOpen, Groups: []string{"pay"}, UserID: ann},
			[]string{foreign.ID, named.ID},
		},
		{"of no group", repository.ApprovalFilter{Groups: []string{}, UserID: "nobody"}, nil},
		{
			"of a user who holds the permission, and is excluded from one",
			repository.ApprovalFilter{State: repository.ApprovalOpen, Mine: true, UserID: ann},
			[]string{named.ID},
		},
		{
			"of a user who holds the permission",
			repository.ApprovalFilter{State: repository.ApprovalOpen, Mine: true, UserID: bob},
			[]string{foreign.ID, held.ID, named.ID},
		},
		{
			"of a user who holds it in another group",
			repository.ApprovalFilter{State: repository.ApprovalOpen, Mine: true, UserID: bob, VoteIn: []string{"pay"}},
			[]string{foreign.ID, named.ID},
		},
	} {
		for _, limit := range []int{10, 1} {
			var ids []string
			for p := (repository.Page{Limit: limit}); ; {
				page, next, err := s.ListApprovals(t.Context(), c.f, p)
				require.NoError(t, err, c.name)
				for _, b := range page {
					ids = append(ids, b.ExecutionID)
				}
				if p.Cursor = next; next == "" {
					break
				}
			}
			require.Equal(t, c.want, ids, "%s, %d at once", c.name, limit)
		}
	}
}
