package alerting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// deadlineBatch bounds the deadlines of one look.
	deadlineBatch = 500
	// deadlineDelay is the wait between a deadline and its evaluation: ends wait a moment for others.
	deadlineDelay = 3 * time.Second
	// comingBatches bounds the reads of one look at deadlines to come.
	comingBatches = 10
	// ahead is how early a deadline may be at risk.
	ahead = 24 * time.Hour
)

// Deadlines judges the deadlines that have passed, and those ahead by what is usual for
// their jobs. It returns how many alerts it has raised. Each deadline is judged by one
// leader: who deletes its row, or marks it, raises the alert in the same transaction.
func (e *Evaluator) Deadlines(ctx context.Context) (int, error) {
	now := e.Clock.Now()
	past, err := e.Alerts.Deadlines(ctx, time.Unix(0, 0).UTC(), now.Add(-deadlineDelay), deadlineBatch)
	if err != nil {
		return 0, fmt.Errorf("read the deadlines that have passed: %w", err)
	}
	// One behind all rows of the present moment: an id of a job begins with a digit or a letter.
	coming, err := e.coming(ctx, entity.Deadline{Moment: now, JobID: "~"}, now.Add(ahead))
	if err != nil || len(past)+len(coming) == 0 {
		return 0, err
	}
	rules, err := e.rules(ctx)
	if err != nil {
		return 0, err
	}
	jobs, err := e.jobsOf(ctx, past)
	if err != nil {
		return 0, err
	}
	raised, reader := 0, fires.NewReader(e.Runs, fires.NewBudget(), now)
	for _, d := range past {
		reader.Expect(d.JobID, "", d.Moment)
	}
	var failed error // one that cannot be judged keeps no other waiting
	for _, d := range past {
		n, err := e.evaluateDeadline(ctx, reader, rules, jobs[d.JobID], d)
		if raised += n; errors.Is(err, fires.ErrLater) {
			continue // those that need no rows are judged in this turn
		}
		failed = errors.Join(failed, err)
	}
	for batch := range comingBatches {
		n, err := e.foresee(ctx, rules, coming, now)
		if raised += n; err != nil {
			return raised, errors.Join(failed, err)
		}
		if len(coming) < deadlineBatch || batch == comingBatches-1 {
			break
		}
		if coming, err = e.coming(ctx, coming[len(coming)-1], now.Add(ahead)); err != nil {
			return raised, errors.Join(failed, err)
		}
	}
	if raised > 0 {
		e.Wake()
	}
	return raised, failed
}

// coming reads deadlines to come, behind one of them.
func (e *Evaluator) coming(ctx context.Context, after entity.Deadline, until time.Time) ([]entity.Deadline, error) {
	found, err := e.Alerts.UnreportedDeadlines(ctx, after, until, deadlineBatch)
	if err != nil {
		return nil, fmt.Errorf("read the deadlines to come: %w", err)
	}
	return found, nil
}

// jobsOf reads the jobs of deadlines.
func (e *Evaluator) jobsOf(ctx context.Context, deadlines []entity.Deadline) (map[string]repository.AlertJob, error) {
	ids := convert.All(deadlines, func(d entity.Deadline) string { return d.JobID })
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the jobs of deadlines: %w", err)
	}
	return jobs, nil
}

// evaluateDeadline raises the alert about a passed deadline if no run of the fire or of a later fire had succeeded by
// then.
func (e *Evaluator) evaluateDeadline(ctx context.Context, reader *fires.Reader, rules map[string]*alert.Rule,
	job repository.AlertJob, d entity.Deadline,
) (int, error) {
	var signals []alerting.Signal
	if expected(job) {
		kept, err := e.kept(ctx, reader, d)
		if err != nil {
			return 0, err
		}
		if !kept {
			if err := e.stop(ctx, job, d); err != nil {
				return 0, err
			}
			for _, r := range append(ruleset.InOrder(rules), alerting.ShortRules(ruleset.JobOf(job))...) {
				if s, yes := alerting.OnMissed(r, ruleset.JobOf(job), d); yes {
					signals = append(signals, s)
				}
			}
		}
	}
	return e.storeDeadline(ctx, d, signals, func(ctx context.Context, tx repository.Tx) (bool, error) {
		return tx.Alerts.TakeDeadline(ctx, d)
	})
}

// storeDeadline raises alerts in the transaction that takes or marks a deadline, unless
// another leader has. A refused row holds up no other deadline.
func (e *Evaluator) storeDeadline(ctx context.Context, d entity.Deadline, signals []alerting.Signal,
	mine func(ctx context.Context, tx repository.Tx) (bool, error),
) (raised int, err error) {
	settle := func(ctx context.Context, tx repository.Tx) error {
		raised = 0
		ok, err := mine(ctx, tx)
		if err != nil || !ok {
			return err
		}
		raised, err = episode.Raise(ctx, tx, signals, e.Clock.Now())
		if errors.Is(err, episode.ErrOvertaken) { // no deadline is to blame for that
			err = fmt.Errorf("%w: %w", repository.ErrLocked, err)
		}
		return err
	}
	key := identity.Hash("deadline", d.JobID, d.FireKey)
	err = batch.Walk(e.Aside.Blames(), []string{key}, func(key string) string { return key }, func([]string) error {
		return e.Store.Write(ctx, repository.LaneAPI, "alert-deadline", settle)
	}, func(_ string, cause error) error {
		a := entity.SetAside{Kind: entity.AsideDeadline, ID: key, Job: d.JobID}
		if len(signals) > 0 {
			a.Rule = signals[0].Rule.ID
		}
		_, err := e.helpless(ctx, a, cause, settle, func(ctx context.Context, tx repository.Tx) error {
			raised = 0
			_, err := mine(ctx, tx)
			return err
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("settle a deadline: %w", err)
	}
	return raised, nil
}

// foresee raises alerts about deadlines that will be missed, by how long the runs of the
// job usually take. Each is told once. Deadlines of fires that have ended it does not meet again.
func (e *Evaluator) foresee(ctx context.Context, rules map[string]*alert.Rule, coming []entity.Deadline,
	now time.Time,
) (raised int, err error) {
	var ids []string
	var binary []repository.BinaryID
	for _, d := range coming {
		ids = append(ids, identity.ExecutionID(d.ScheduledTime, d.JobID, d.FireKey, 0))
		if id, ok := identity.Bytes(d.JobID); ok {
			binary = append(binary, id)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	execs, err := e.Executions.ByIDs(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("read the runs with deadlines: %w", err)
	}
	byID := entity.ByID(execs)
	if err := e.leave(ctx, coming, ids, byID); err != nil {
		return 0, err
	}
	jobs, err := e.jobsOf(ctx, coming)
	if err != nil {
		return 0, err
	}
	usual, err := e.Baselines.BaselinesOf(ctx, binary)
	if err != nil {
		return 0, fmt.Errorf("read what is usual for jobs with deadlines: %w", err)
	}
	for i, d := range coming {
		job, exec := jobs[d.JobID], byID[ids[i]]
		if exec == nil || exec.Status.Final() || exec.Open() || !expected(job) {
			continue // nobody knows how long people let a workflow run wait
		}
		id, _ := identity.Bytes(d.JobID)
		state, err := baseline.Decode(usual[id].Data)
		if len(usual[id].Data) == 0 || err != nil {
			continue
		}
		start := now
		if exec.Status == entity.StatusRunning && !exec.StartTime.IsZero() {
			start = exec.StartTime
		}
		finding, yes := state.AtRisk(start.In(e.Zone), now, d.Moment)
		if !yes {
			continue
		}
		var signals []alerting.Signal
		for _, r := range append(ruleset.InOrder(rules), alerting.ShortRules(ruleset.JobOf(job))...) {
			if s, yes := alerting.OnUnusual(r, ruleset.JobOf(job), alerting.Unusual{
				Finding: finding, At: now, Evidence: d.FireKey, ExecutionID: exec.ID,
			}); yes {
				signals = append(signals, s)
			}
		}
		n, err := e.storeDeadline(ctx, d, signals, func(ctx context.Context, tx repository.Tx) (bool, error) {
			return tx.Alerts.MarkDeadline(ctx, d)
		})
		if raised += n; err != nil {
			return raised, err
		}
	}
	return raised, nil
}

// leave deletes the deadlines that are kept, because their fires have succeeded, and marks
// those of fires that have ended in another way: they are judged at their moment. So the
// fires of a frequent job do not stand before the deadlines of others.
func (e *Evaluator) leave(ctx context.Context, coming []entity.Deadline, ids []string,
	byID map[string]*entity.Execution,
) error {
	var kept, ended []entity.Deadline
	for i, d := range coming {
		exec := byID[ids[i]]
		switch {
		case exec != nil && !exec.Status.Final():
		case exec != nil && alerting.NewKept(d).Add(exec):
			kept = append(kept, d)
		default:
			ended = append(ended, d)
		}
	}
	if len(kept)+len(ended) == 0 {
		return nil
	}
	err := e.Store.Write(ctx, repository.LaneAPI, "alert-deadline-leave",
		func(ctx context.Context, tx repository.Tx) error {
			for _, d := range kept {
				if _, err := tx.Alerts.TakeDeadline(ctx, d); err != nil {
					return err
				}
			}
			for _, d := range ended {
				if _, err := tx.Alerts.MarkDeadline(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("leave %d deadlines of fires that have ended: %w", len(kept)+len(ended), err)
	}
	return nil
}
