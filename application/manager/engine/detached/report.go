package detached

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// errToken looks the same for every wrong token: who guesses learns nothing.
func errToken() error {
	return apperror.New(apperror.KindUnauthenticated, "run_token",
		"the run token is not that of an attempt of this execution")
}

// Authorize returns apperror.KindUnauthenticated unless the token is that of an
// attempt of the execution. It is asked before a byte of the report is read.
func (m *Manager) Authorize(ctx context.Context, executionID, token string) error {
	_, err := m.token(ctx, executionID, token)
	return err
}

func (m *Manager) token(ctx context.Context, executionID, token string) (entity.RunToken, error) {
	if len(token) != entity.RunTokenLen {
		return entity.RunToken{}, errToken()
	}
	t, ok, err := m.Tokens.RunToken(ctx, executionID, entity.RunTokenHash(token))
	if err == nil && !ok {
		err = errToken()
	}
	return t, err
}

// Report takes a report about an execution and returns when the store has it.
// It returns apperror.KindUnauthenticated for a wrong token, and apperror.KindConflict
// when the attempt is over: run_cancelled where the run was cancelled, run_over
// else. apperror.KindUnavailable means that the target should report again.
func (m *Manager) Report(ctx context.Context, executionID, token string, report entity.RunReport) error {
	t, err := m.token(ctx, executionID, token)
	if err != nil {
		return err
	}
	report = m.redacted(&t, report)
	if report.Status == "" {
		err = m.storeProgress(ctx, t, report)
	} else {
		err = m.end(ctx, t, report)
	}
	if errors.Is(err, repository.ErrCommitUnknown) {
		return apperror.Unavailable(err)
	}
	return err
}

// storeProgress stores what an attempt says that goes on.
func (m *Manager) storeProgress(ctx context.Context, t entity.RunToken, report entity.RunReport) error {
	return m.Store.Write(ctx, repository.LaneAPI, "report", func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, []string{t.ExecutionID})
		if err != nil {
			return fmt.Errorf("lock the run of a report: %w", err)
		}
		if len(execs) == 0 {
			return errToken()
		}
		if exec := execs[0]; !isCurrent(t, exec) {
			return attemptOver(exec)
		}
		return m.storeDetails(ctx, tx, t, execs[0], report)
	})
}

// isCurrent: the attempt of the token is the one that runs.
func isCurrent(t entity.RunToken, exec *entity.Execution) bool {
	return exec.Status == entity.StatusRunning && exec.Attempt == t.Attempt
}

// attemptOver tells a target that its attempt has ended.
func attemptOver(exec *entity.Execution) error {
	if exec.Status == entity.StatusCancelled {
		return apperror.Conflict("run_cancelled", "the run was cancelled: stop, nothing more is taken")
	}
	return apperror.Conflict("run_over", "this attempt is over, the run is %s: stop, nothing more is taken", exec.Status)
}

// maxTries bounds how often an end is stored anew because the run has changed
// hands meanwhile: that happens once, when it is detached.
const maxTries = 5

// end stores the end of an attempt, and what was said with it.
func (m *Manager) end(ctx context.Context, t entity.RunToken, report entity.RunReport) error {
	for range maxTries {
		exec, err := m.Executions.Get(ctx, t.ExecutionID)
		if apperror.Is(err, apperror.KindNotFound) {
			return errToken()
		}
		if err != nil {
			return err
		}
		if !isCurrent(t, exec) {
			m.storeLateReport(ctx, t, exec, report)
			return attemptOver(exec)
		}
		job, err := m.jobOf(ctx, exec)
		if err != nil {
			return err
		}
		taken, err := m.Runner.Conclude(ctx, []completion.End{{
			Run: entity.Run{Job: job, Execution: exec}, Outcome: outcome(report, exec),
			Also: func(ctx context.Context, tx repository.Tx) error { return m.storeDetails(ctx, tx, t, exec, report) },
		}})
		if err != nil || taken[0] {
			return err
		}
	}
	return apperror.Unavailable(fmt.Errorf("the run %s changes while its end is stored", t.ExecutionID))
}

// jobOf is the current definition; of a deleted job no more than its id is left.
func (m *Manager) jobOf(ctx context.Context, exec *entity.Execution) (*entity.Job, error) {
	jobs, err := m.Jobs.For(ctx, []*entity.Execution{exec})
	if err != nil {
		return nil, fmt.Errorf("load the job of a report: %w", err)
	}
	return entity.JobOf(exec, jobs), nil
}

// outcome is what the target says that the attempt came to.
func outcome(report entity.RunReport, exec *entity.Execution) entity.Outcome {
	o := entity.Succeeded(report.Result)
	if report.Status != entity.StatusSuccess {
		o = entity.Failed(entity.ReasonError, report.Message)
		if o.Message == "" {
			o.Message = "the target reported a failure and did not say why"
		}
		o.Result, o.NoRetry, o.Progress = report.Result, report.NoRetry, exec.Progress
		if report.Progress >= 0 {
			o.Progress = report.Progress
		}
	}
	o.Checkpoint = exec.Checkpoint
	if report.Checkpoint != nil {
		o.Checkpoint = *report.Checkpoint
	}
	return o
}
