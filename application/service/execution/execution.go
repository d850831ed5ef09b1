// Package execution reads runs and steers them: cancel, retry, replay, the fire
// ledger and backfills.
package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Engine learns of changes made here. A lost call costs time, and no correctness.
type Engine interface {
	// AfterCommit learns which runs a transaction made ready, or asked to stop.
	AfterCommit(e commit.PostCommit)
}

// Firer fires jobs outside their schedules.
type Firer interface {
	// FireExtra returns the ids of the executions; also runs in the same transaction.
	FireExtra(ctx context.Context, jobID string, fire entity.Fire,
		also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error) ([]string, error)
}

// ExecutionService reads runs and steers them. Safe for concurrent use.
type ExecutionService struct {
	Store      repository.Store
	Executions repository.ExecutionReader
	// FailureRows finds what failed.
	FailureRows repository.FailureReader
	Records     repository.RecordReader
	Jobs        repository.JobReader
	Firer       Firer
	Schedules   admission.Compiler
	Closer      *maintenance.Closer
	// CancelDetached ends a detached run; done is false where it is not detached any more.
	CancelDetached func(ctx context.Context, row *entity.Execution) (done bool, err error)
	Engine         Engine
	Clock          clock.StoreClock
	// StepJobs are the jobs that executions of a workflow run's steps may be of; none where there is no such run.
	StepJobs func(ctx context.Context, runID string) ([]string, error)
	// Reuse says of the root of a workflow run which version its repetition keeps to, and stores with that what is not
	// repeated; the version is zero for other executions. from are steps to repeat whatever they came to.
	Reuse func(ctx context.Context, root *entity.Execution, from []string) (version int, also Also, err error)

	gated sync.Once
	gate  *admit.Gate
}

// Also runs in the transaction that makes executions.
type Also = func(ctx context.Context, tx repository.Tx, made []*entity.Execution) error

// Get returns one execution.
func (s *ExecutionService) Get(ctx context.Context, id string) (*entity.Execution, error) {
	return s.Executions.Get(ctx, id)
}

// List returns a page of executions, newest first.
func (s *ExecutionService) List(ctx context.Context, f repository.ExecutionFilter,
	p repository.Page,
) (rows []*entity.Execution, next string, err error) {
	if f.RunID != "" {
		if f.RunJobs, err = s.StepJobs(ctx, f.RunID); err != nil {
			return nil, "", err
		}
	}
	return s.Executions.List(ctx, f, p)
}

// Attempts are those of a run, the latest one last.
func (s *ExecutionService) Attempts(ctx context.Context, id string) ([]entity.Attempt, error) {
	row, err := s.Executions.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	attempts, err := s.Executions.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	if latest, ok := row.LatestAttempt(); ok && !slices.ContainsFunc(attempts, func(a entity.Attempt) bool {
		return a.Attempt == latest.Attempt
	}) {
		attempts = append(attempts, latest)
	}
	usages, err := s.Executions.Usages(ctx, id)
	for i := range attempts {
		attempts[i].Usage = usages[attempts[i].Attempt]
	}
	return attempts, err
}

// Usage is what the latest attempt of a run took.
func (s *ExecutionService) Usage(ctx context.Context, row *entity.Execution) (entity.Usage, error) {
	if row.Attempt == 0 {
		return entity.Usage{}, nil
	}
	usages, err := s.Executions.Usages(ctx, row.ID)
	return usages[row.Attempt], err
}

// Logs returns a page of a run's log.
func (s *ExecutionService) Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error) {
	chunks, err := s.Records.Logs(ctx, p)
	if err == nil && len(chunks) == 0 { // it says nothing more, or there is no such run
		_, err = s.Executions.Get(ctx, p.ExecutionID)
	}
	return chunks, err
}

// Names gives the names of jobs, also of deleted ones.
func (s *ExecutionService) Names(ctx context.Context, jobIDs []string) (map[string]string, error) {
	return s.Jobs.Names(ctx, jobIDs)
}

// GroupsOf maps runs to the groups of their jobs, also of deleted ones.
func (s *ExecutionService) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	jobs := convert.All(rows, func(row *entity.Execution) string { return row.JobID })
	groups, err := s.Jobs.GroupsOf(ctx, jobs)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, row := range rows {
		if group, ok := groups[row.JobID]; ok {
			out[row.ID] = group
		}
	}
	return out, nil
}

// Cancel ends a run. A waiting or detached run ends at once; a run on a node ends as soon
// as its executor has stopped. Cancelling a final run is a conflict.
func (s *ExecutionService) Cancel(ctx context.Context, id string) error {
	for range cancelTries {
		row, err := s.Executions.Get(ctx, id)
		if err != nil {
			return err
		}
		done := false
		switch {
		case row.Status == entity.StatusWaiting:
			done, err = s.cancelWaiting(ctx, row)
		case row.Detached():
			done, err = s.CancelDetached(ctx, row)
		}
		if err != nil || done {
			return err
		}
		if err := s.askToStop(ctx, id); !errors.Is(err, errMoved) {
			return err
		}
	}
	return apperror.Conflict("changed", "the execution changed while it was being cancelled; try again")
}

// cancelTries bounds how often a cancel starts again because the run changed meanwhile.
const cancelTries = 3

// errMoved says that a run is not what it was when it was read.
var errMoved = errors.New("the run went on meanwhile")

func (s *ExecutionService) cancelWaiting(ctx context.Context, row *entity.Execution) (done bool, err error) {
	cancel := func(row *entity.Execution, now time.Time) error { return row.Cancel(reasonOf(row), now) }
	closed, effect, err := s.Closer.CloseWaiting(ctx, repository.LaneAPI, []*entity.Execution{row}, cancel,
		func(*entity.Execution, time.Time) bool { return true })
	if err != nil {
		return false, err
	}
	s.Engine.AfterCommit(effect)
	return len(closed) > 0, nil
}

// reasonOf is what a person's word on an execution is recorded as: steps of workflows tell it from an end by the run.
func reasonOf(row *entity.Execution) entity.Reason {
	if row.IsStep() {
		return entity.ReasonOperator
	}
	return entity.ReasonNone
}

// SkipWaiting ends steps of workflow runs that wait, without a run of them.
func (s *ExecutionService) SkipWaiting(ctx context.Context, ids []string) error {
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Status != entity.StatusWaiting {
			return apperror.Conflict("not_waiting", "it is %s, and only what waits can be skipped; cancel what runs",
				row.Status)
		}
		if row.Attempt > 0 {
			return apperror.Conflict("has_run", "it has run, and waits for its next attempt; cancel it instead")
		}
	}
	skip := func(row *entity.Execution, now time.Time) error { return row.Skip(entity.ReasonOperator, now) }
	closed, effect, err := s.Closer.CloseWaiting(ctx, repository.LaneAPI, rows, skip,
		func(row *entity.Execution, _ time.Time) bool { return row.Attempt == 0 })
	if err != nil {
		return err
	}
	s.Engine.AfterCommit(effect)
	if len(closed) == 0 {
		return apperror.Conflict("changed", "it began, or ended, while it was being skipped; look at it again")
	}
	return nil
}

// askToStop marks a running row, so that its holder stops it.
func (s *ExecutionService) askToStop(ctx context.Context, id string) error {
	var asked *entity.Execution
	err := s.Store.Write(ctx, repository.LaneAPI, "execution.cancel", func(ctx context.Context, tx repository.Tx) error {
		asked = nil
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return apperror.NotFound("execution", id)
		}
		row := rows[0]
		if row.Status.Final() {
			return apperror.Conflict("already_final", "the execution is already %s", row.Status)
		}
		if row.Status == entity.StatusWaiting || row.Detached() {
			return errMoved
		}
		if row.CancelRequested {
			return nil
		}
		if err := row.RequestCancel(reasonOf(row), s.Clock.Now()); err != nil {
			return err
		}
		asked = row
		if err := tx.Todos.AddTodos(ctx, workflow.CancelTodos(rows, row.UpdateTime)); err != nil {
			return err
		}
		return tx.Executions.Update(ctx, row, entity.StatusRunning, row.Token)
	})
	if err == nil && asked != nil {
		s.Engine.AfterCommit(commit.PostCommit{Stopping: []*entity.Execution{asked}})
	}
	return err
}

// Retry repeats a final run by hand: a new row, the original stays (engine
// rule 19). It returns the new run's id.
func (s *ExecutionService) Retry(ctx context.Context, id string, by entity.Actor) (string, error) {
	return s.RetryAlso(ctx, id, by, nil)
}

// RetryFrom is Retry of the root of a workflow run. Steps that are named are repeated whatever they came to.
func (s *ExecutionService) RetryFrom(ctx context.Context, id string, from []string, by entity.Actor) (string, error) {
	row, err := s.Executions.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return s.repeat(ctx, row, from, by, closesLetterOf(row))
}

// RetryAlso is Retry; also runs in the same transaction, with the new run. It may be nil.
func (s *ExecutionService) RetryAlso(ctx context.Context, id string, by entity.Actor, also Also) (string, error) {
	row, err := s.Executions.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return s.repeat(ctx, row, nil, by, also, closesLetterOf(row))
}

// DeadLetters lists runs whose retries are used up.
func (s *ExecutionService) DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
	p repository.Page,
) ([]entity.DeadLetter, string, error) {
	return s.Records.DeadLetters(ctx, f, p)
}

// maxCauses bounds the causes of one answer.
const maxCauses = 200

// DeadLetterCauses counts the dead letters that wait for a person, by job and
// reason, most first.
func (s *ExecutionService) DeadLetterCauses(ctx context.Context,
	f repository.DeadLetterFilter,
) ([]repository.DeadLetterCause, error) {
	return s.Records.DeadLetterCauses(ctx, f, maxCauses)
}

// Replay repeats a dead letter, once: not where its run was run again otherwise, and not where its job would skip the
// run. Nothing is left of either.
func (s *ExecutionService) Replay(ctx context.Context, executionID string, by entity.Actor) (string, error) {
	if _, err := s.Records.DeadLetter(ctx, executionID); err != nil {
		return "", err
	}
	row, err := s.Executions.Get(ctx, executionID)
	if err != nil {
		return "", err
	}
	return s.repeat(ctx, row, nil, by, func(ctx context.Context, tx repository.Tx, rows []*entity.Execution) error {
		if err := tx.Records.MarkReplayed(ctx, executionID, rows[0].ID); err != nil {
			return err
		}
		return onlyOnce(ctx, tx, row, rows[0])
	})
}

// Discard closes a dead letter without a repetition. The run stays DEAD in the ledger.
func (s *ExecutionService) Discard(ctx context.Context, executionID string) error {
	return s.Store.Write(ctx, repository.LaneAPI, "dead-letter.discard",
		func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.DropDeadLetter(ctx, executionID)
		})
}

// repeat makes a new run of a final one; also run in its transaction, those that are nil apart.
func (s *ExecutionService) repeat(ctx context.Context, row *entity.Execution, from []string, by entity.Actor,
	also ...Also,
) (string, error) {
	if !row.Status.Final() {
		return "", apperror.Conflict("not_final", "the execution is still %s; cancel it first", row.Status)
	}
	if row.Inline() {
		return "", apperror.Conflict("step", "this is a step of a workflow run, and does not run outside of it; repeat the "+
			"step while it is held, or trigger the workflow again")
	}
	if row.IsRange() {
		return "", apperror.Conflict("range", "this row stands for %d fires that were skipped; trigger the job instead",
			row.SkipCount)
	}
	version, reuse, err := s.Reuse(ctx, row, from)
	if err != nil {
		return "", err
	}
	now := s.Clock.Now()
	fire := entity.ExtraFire(entity.TriggerRetry, row.ScheduledTime, now, now, row.Params)
	fire.By, fire.Version = by, version
	fire.Parts = []entity.Part{entity.Repeat(row)}
	ids, err := s.Firer.FireExtra(ctx, row.JobID, fire,
		func(ctx context.Context, tx repository.Tx, rows []*entity.Execution) error {
			// Retention passes over what is locked, and then sees what was made of it.
			kept, err := tx.Executions.Lock(ctx, []string{row.ID})
			if err != nil {
				return fmt.Errorf("lock the run that is repeated: %w", err)
			}
			if len(kept) == 0 {
				return apperror.NotFound("execution", row.ID)
			}
			for _, do := range append([]Also{reuse}, also...) {
				if do != nil && err == nil {
					err = do(ctx, tx, rows)
				}
			}
			return err
		})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}
