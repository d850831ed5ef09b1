package alerting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
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
	// settle is how long after a deadline it is judged: ends wait a moment for others.
	settle = 3 * time.Second
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
	past, err := e.Alerts.Deadlines(ctx, time.Unix(0, 0).UTC(), now.Add(-settle), deadlineBatch)
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
	raised, runs := 0, map[string][]*entity.Execution{}
	var failed error // one that cannot be judged keeps no other waiting
	for _, d := range past {
		n, err := e.judgeDeadline(ctx, rules, jobs[d.JobID], d, runs)
		raised, failed = raised+n, errors.Join(failed, err)
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
	found, err := e.Alerts.UntoldDeadlines(ctx, after, until, deadlineBatch)
	if err != nil {
		return nil, fmt.Errorf("read the deadlines to come: %w", err)
	}
	return found, nil
}

// jobsOf reads the jobs of deadlines.
func (e *Evaluator) jobsOf(ctx context.Context, deadlines []entity.Deadline) (map[string]repository.AlertJob, error) {
	ids := make([]string, len(deadlines))
	for i, d := range deadlines {
		ids[i] = d.JobID
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the jobs of deadlines: %w", err)
	}
	return jobs, nil
}

// judgeDeadline raises the alert about a deadline that has passed, where no run of the
// fire or of a later one had succeeded by then.
func (e *Evaluator) judgeDeadline(ctx context.Context, rules map[string]*alert.Rule, job repository.AlertJob,
	d entity.Deadline, runs map[string][]*entity.Execution,
) (int, error) {
	var signals []alerting.Signal
	if expected(job) {
		execs, known := runs[d.JobID]
		if !known {
			var err error
			execs, _, err = e.Runs.List(ctx, repository.ExecutionFilter{JobID: d.JobID}, repository.Page{Limit: runsOfJob})
			if err != nil {
				return 0, fmt.Errorf("read the newest runs of job %s: %w", d.JobID, err)
			}
			runs[d.JobID] = execs
		}
		if !alerting.InTime(execs, d) {
			if err := e.stop(ctx, job, d, execs); err != nil {
				return 0, err
			}
			for _, r := range append(ruleset.InOrder(rules), alerting.ShortRules(ruleset.JobOf(job))...) {
				if s, yes := alerting.OnMissed(r, ruleset.JobOf(job), d); yes {
					signals = append(signals, s)
				}
			}
		}
	}
	return e.settleDeadline(ctx, signals, func(ctx context.Context, tx repository.Tx) (bool, error) {
		return tx.Alerts.TakeDeadline(ctx, d)
	})
}

// expected reports whether a job is there and is to run.
func expected(job repository.AlertJob) bool {
	return job.ID != "" && !job.Deleted && job.Status != entity.JobPaused && job.Deadline.At != ""
}

// stop asks what still runs of a fire to stop, where the job says so. It comes before the
// deadline is taken: a leader that dies in between asks again.
func (e *Evaluator) stop(ctx context.Context, job repository.AlertJob, d entity.Deadline,
	execs []*entity.Execution,
) error {
	if job.Deadline.OnMiss != entity.MissCancel {
		return nil
	}
	for _, exec := range execs {
		if exec.FireKey != d.FireKey || exec.Status.Final() {
			continue
		}
		if err := e.Cancel(ctx, exec.ID); err != nil {
			return fmt.Errorf("stop run %s, which has missed its deadline: %w", exec.ID, err)
		}
	}
	return nil
}

// settleDeadline raises alerts in the transaction that takes or marks a deadline, unless
// another leader has.
func (e *Evaluator) settleDeadline(ctx context.Context, signals []alerting.Signal,
	mine func(ctx context.Context, tx repository.Tx) (bool, error),
) (raised int, err error) {
	err = e.Store.Write(ctx, repository.LaneAPI, "alert-deadline", func(ctx context.Context, tx repository.Tx) error {
		raised = 0
		ok, err := mine(ctx, tx)
		if err != nil || !ok {
			return err
		}
		raised, err = episode.Raise(ctx, tx, signals, e.Clock.Now())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("settle a deadline: %w", err)
	}
	return raised, nil
}

// foresee raises alerts about deadlines that will be missed, by how long the runs of the
// job usually take. Each is told once. Those of fires that have ended it does not meet again.
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
	execs, err := e.Facts.ExecutionsByID(ctx, ids)
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
	usual, err := e.Facts.BaselinesOf(ctx, binary)
	if err != nil {
		return 0, fmt.Errorf("read what is usual for jobs with deadlines: %w", err)
	}
	for i, d := range coming {
		job, exec := jobs[d.JobID], byID[ids[i]]
		if exec == nil || exec.Status.Final() || !expected(job) {
			continue
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
		n, err := e.settleDeadline(ctx, signals, func(ctx context.Context, tx repository.Tx) (bool, error) {
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
		case exec != nil && alerting.InTime([]*entity.Execution{exec}, d):
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
