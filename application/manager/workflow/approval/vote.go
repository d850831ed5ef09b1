package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Ballots take votes. Several at once on one approval come one after the other: they lock its execution. Safe for
// concurrent use.
type Ballots struct {
	Store    repository.Store
	Admitter *admission.Admitter
	Clock    clock.StoreClock
}

// Cast stores a vote, and with the one that settles the approval its end. Time is set here. may is asked about the
// approval under its lock, and says why the user has no vote.
func (b *Ballots) Cast(ctx context.Context, v wf.Vote, may func(*wf.Ballot) error) error {
	return b.Store.Write(ctx, repository.LaneAPI, "vote", func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{v.ExecutionID})
		if err != nil {
			return fmt.Errorf("lock the approval %s: %w", v.ExecutionID, err)
		}
		ballot, known, err := tx.Approvals.Approval(ctx, v.ExecutionID)
		switch {
		case err != nil:
			return fmt.Errorf("read the approval %s: %w", v.ExecutionID, err)
		case len(rows) == 0 || !known:
			return apperror.NotFound("approval", v.ExecutionID)
		}
		if err := may(&ballot); err != nil {
			return err
		}
		return b.cast(ctx, tx, rows[0], &ballot, v)
	})
}

func (b *Ballots) cast(ctx context.Context, tx repository.Tx, e *entity.Execution, ballot *wf.Ballot, v wf.Vote) error {
	now := b.Clock.Now()
	if !entity.ApprovalSpan().Of(e.Claim) {
		return apperror.Conflict("approval_decided", "the approval is decided already: it is %s", e.Status)
	}
	if !ballot.Until.After(now) {
		return apperror.Conflict("approval_timed_out", "the time of the approval was over at %s",
			ballot.Until.Format("2006-01-02T15:04:05Z"))
	}
	votes, err := tx.Approvals.Votes(ctx, v.ExecutionID)
	if err != nil {
		return fmt.Errorf("read the votes about %s: %w", v.ExecutionID, err)
	}
	if slices.ContainsFunc(votes, func(other wf.Vote) bool { return other.UserID == v.UserID }) {
		return apperror.Conflict("voted_already", "you have voted already, and each has one vote")
	}
	v.Time, v.Comment = now, validation.Text(v.Comment, wf.MaxComment)
	if err := tx.Approvals.AddVote(ctx, v); err != nil {
		return fmt.Errorf("store a vote about %s: %w", v.ExecutionID, err)
	}
	verdict := workflow.Count(ballot, append(votes, v))
	if verdict.Status == "" {
		return nil
	}
	if err := End(e, verdict, now); err != nil {
		return err
	}
	if err := tx.Executions.Close(ctx, []*entity.Execution{e}); err != nil {
		return fmt.Errorf("end the approval %s: %w", e.ID, err)
	}
	return b.Admitter.RecordEnds(ctx, tx, now, []*entity.Execution{e})
}

// End makes an approval final.
func End(e *entity.Execution, v workflow.Verdict, now time.Time) error {
	if v.Status == entity.StatusSuccess {
		return e.Approve(now)
	}
	return e.Refuse(v.Reason, validation.Text(v.Message, wf.MaxProblem), now)
}
