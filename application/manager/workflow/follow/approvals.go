package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Electorate says who may vote.
type Electorate interface {
	// Voters: see approval.Electorate.
	Voters(ctx context.Context, group string, a *wf.Approval, triggerer string) (approval.Voters, error)
}

// opening is an approval that opens with its step.
type opening struct {
	ballot wf.Ballot
	// wrong says why it cannot open; then the step fails.
	wrong string
}

// openings are the approvals of steps that start now. The voters are read outside of the transaction, and kept with it.
func (f *Follower) openings(ctx context.Context, p *passage, now time.Time) (map[int]*opening, error) {
	found := map[int]*opening{}
	for _, row := range p.rows {
		a := p.flow.Graph.Definition().Steps[row.Step].Approval
		if row.Kind != workflow.RowStart || a == nil {
			continue
		}
		o := &opening{ballot: wf.Ballot{
			RunID: p.id(), WorkflowID: p.run.WorkflowID, StepKey: row.Key.String(), Need: max(a.Need, 1),
			OnTimeout:  cmp.Or(a.OnTimeout, wf.TimeoutRejects),
			OpenedTime: now.UTC().Truncate(time.Millisecond), Until: row.Until.UTC().Truncate(time.Millisecond),
		}}
		triggerer, err := f.triggerer(ctx, p.id(), a)
		if err != nil {
			return nil, err
		}
		voters, err := f.Electorate.Voters(ctx, p.flow.Job.Group, a, triggerer)
		if err != nil {
			return nil, fmt.Errorf("find the voters of the step %s: %w", row.Key, err)
		}
		o.ballot.Voters, o.ballot.Excluded, o.wrong = voters.IDs, voters.Excluded, voters.Wrong
		if err := f.fill(ctx, p, a, o); err != nil {
			return nil, err
		}
		found[row.Step] = o
	}
	return found, nil
}

// fill fills the placeholders of the text that voters read.
func (f *Follower) fill(ctx context.Context, p *passage, a *wf.Approval, o *opening) error {
	text, _ := json.Marshal(a.Text) // a text always marshals
	values, err := p.view.valuesOf(ctx, p.next, p.flow.Job, text)
	if err != nil {
		return err
	}
	filled, wrong := placeholder.Expand(a.Text, values, placeholder.Raw)
	if wrong != nil && o.wrong == "" {
		o.wrong = "approval.text: " + wrong.Error()
	}
	o.ballot.Text = validation.Text(filled, wf.MaxAskedText)
	return nil
}

// triggerer is the name of the user who triggered a workflow run, or the one above that started it; empty where the
// schedule did, or where the approval does not ask.
func (f *Follower) triggerer(ctx context.Context, runID string, a *wf.Approval) (string, error) {
	if a.NotBy != wf.NotByTriggerer {
		return "", nil
	}
	for range wf.MaxDepth {
		root, err := f.Executions.Get(ctx, runID)
		if apperror.Is(err, apperror.KindNotFound) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read who triggered the workflow run %s: %w", runID, err)
		}
		above, _, nested := root.StepOf()
		if root.TriggeredBy.User != "" || !nested {
			return root.TriggeredBy.User, nil
		}
		runID = above
	}
	return "", nil
}

// open lets the execution of a new step wait for people. Where nobody can decide, it fails at once.
func (o *opening) open(e *entity.Execution, now time.Time) {
	if o.wrong == "" {
		e.WaitForApproval(o.ballot.Until)
		return
	}
	e.Status, e.Reason, e.EndTime = entity.StatusFailed, entity.ReasonInvalid, now
	e.ErrorMessage = validation.Text(o.wrong, wf.MaxProblem)
}

// ballot is what is stored beside the execution of an approval that opens.
func (p *passage) ballot(step int, e *entity.Execution) (b wf.Ballot, opens bool) {
	o := p.openings[step]
	if o == nil || e.Status.Final() {
		return b, false
	}
	o.ballot.ExecutionID = e.ID
	return o.ballot, true
}

// ExpireApprovals decides the approvals whose time is over. One that fails, or is locked by somebody else, holds up
// none of the others.
func (f *Follower) ExpireApprovals(ctx context.Context, now time.Time) error {
	q := repository.ClaimRange{
		Lo: entity.ApprovalSpan().Lo, Hi: entity.ApprovalKey(now.Add(time.Millisecond)), Limit: todosAtOnce,
	}
	for {
		due, err := f.Claims.Range(ctx, q)
		if err != nil || len(due) == 0 {
			return err
		}
		err = batch.Walk(f.blame, due, func(e *entity.Execution) string { return e.ID },
			func(part []*entity.Execution) error { return f.expire(ctx, part, now) },
			func(e *entity.Execution, cause error) error {
				return fmt.Errorf("end the approval %s, whose time is over: %w", e.ID, cause)
			})
		if err != nil || len(due) < todosAtOnce {
			return err
		}
		q.After(due[len(due)-1])
	}
}

func (f *Follower) expire(ctx context.Context, due []*entity.Execution, now time.Time) error {
	ballots, err := f.Approvals.ApprovalsOf(ctx, entity.IDsOf(due))
	if err != nil {
		return fmt.Errorf("read %d approvals: %w", len(due), err)
	}
	byID := map[string]*wf.Ballot{}
	for i := range ballots {
		byID[ballots[i].ExecutionID] = &ballots[i]
	}
	end := func(e *entity.Execution, now time.Time) error {
		b := byID[e.ID]
		if b == nil { // nobody can vote about it
			b = &wf.Ballot{Until: now}
		}
		return approval.End(e, workflow.Expire(b), now)
	}
	_, effect, err := f.Closer.CloseWaiting(ctx, repository.LaneComplete, due, end,
		func(e *entity.Execution, _ time.Time) bool {
			until, open := e.Claim.ApprovalUntil()
			return open && !until.After(now)
		})
	if err == nil {
		f.Commits.AfterCommit(effect)
	}
	return err
}
