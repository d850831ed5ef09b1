package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Levels looks at what level rules ask for, and at the alerts that are open: it opens,
// fires and resolves them. It returns how many it has changed.
func (e *Evaluator) Levels(ctx context.Context) (int, error) {
	rules, err := e.rules(ctx)
	if err != nil {
		return 0, err
	}
	// Open alerts are read before the state: one that is opened in between is not taken for
	// one whose level has fallen.
	held, err := episode.Held(ctx, e.Alerts, &e.forLevels)
	if err != nil {
		return 0, err
	}
	short, err := ruleset.OfJobs(ctx, e.Alerts, held)
	if err != nil {
		return 0, err
	}
	ask := levels.Ask{Types: map[alert.RuleType]bool{alert.NotFired: true}} // jobs carry rules of that type
	for _, r := range rules {
		if r.Enabled && r.Type.IsLevel() {
			ask.Types[r.Type] = true
		}
	}
	for _, a := range held {
		if a.Type == alert.NotFired && a.IsLevel() && a.JobID != "" {
			ask.Jobs = append(ask.Jobs, a.JobID)
		}
	}
	state, err := e.Look(ctx, ask)
	if err != nil {
		return 0, fmt.Errorf("look at levels: %w", err)
	}
	if state.Suspended, err = e.suspended(ctx, rules); err != nil {
		return 0, err
	}
	byFingerprint := make(map[string]*alert.Alert, len(held))
	for _, a := range held {
		byFingerprint[a.Fingerprint] = a
	}
	now := e.Clock.Now()
	state.Now = now
	above := map[string]bool{}
	var changes []alerting.Change
	add := func(c alerting.Change) {
		if c.Alert != nil {
			changes = append(changes, c)
		}
	}
	found := lateRules(state)
	for _, r := range rules {
		found = append(found, alerting.Levels(r, state)...)
	}
	for _, s := range found {
		fingerprint := s.Fingerprint()
		above[fingerprint] = true
		add(alerting.Above(byFingerprint[fingerprint], &s, now))
	}
	maps.Copy(rules, short)
	jobs, err := e.jobsBelow(ctx, held, above)
	if err != nil {
		return 0, err
	}
	over, err := e.over(ctx, held)
	if err != nil {
		return 0, err
	}
	for _, a := range held {
		if a.Type.Stands() && a.Open() && over[a.ExecutionID] {
			add(alerting.Ended(a, alert.ByRecovery, time.Time{}, now))
		} else if !above[a.Fingerprint] {
			add(rest(a, rules[a.RuleID], jobs, state))
		}
	}
	stored, err := e.write(ctx, "alert-levels", changes)
	if stored > 0 {
		e.Wake()
	}
	return stored, err
}

// suspended are the rules that do nothing for some time.
func (e *Evaluator) suspended(
	ctx context.Context,
	rules map[string]*alert.Rule,
) (out []alerting.SuspendedRule, err error) {
	lasting, err := e.budget.Look(ctx, rules, sized(e.conditions(rules)))
	if err != nil {
		return nil, err
	}
	for _, s := range lasting {
		out = append(out, alerting.SuspendedRule{Rule: rules[s.RuleID], Suspension: s})
	}
	return out, nil
}

// lateRules asks the rules of the overdue jobs themselves.
func lateRules(state *alerting.State) (out []alerting.Signal) {
	for _, o := range state.Overdue {
		one := *state
		one.Overdue = []alerting.Overdue{o}
		for _, r := range alerting.ShortRules(o.Job) {
			out = append(out, alerting.Levels(r, &one)...)
		}
	}
	return out
}

// rest says what becomes of an alert whose level nobody has seen in this look.
func rest(a *alert.Alert, r *alert.Rule, jobs map[string]repository.AlertJob, st *alerting.State) alerting.Change {
	switch {
	case r == nil || !r.Enabled || r.Type != a.Type:
		return alerting.Ended(a, alert.ByRule, time.Time{}, st.Now)
	case !a.IsLevel():
		return alerting.Expired(a, r, st.Now)
	}
	if a.JobID != "" {
		job, known := jobs[a.JobID]
		switch why := gone(job, known); {
		case why != "":
			return alerting.Ended(a, why, time.Time{}, st.Now)
		case alerting.Unseen(a, st, job.NextFireTime):
			return alerting.Change{}
		}
	}
	return alerting.Below(a, r, st.Now)
}

// jobsBelow reads the jobs of open alerts about levels that this look has not met.
func (e *Evaluator) jobsBelow(ctx context.Context, held []*alert.Alert, above map[string]bool,
) (map[string]repository.AlertJob, error) {
	var ids []string
	for _, a := range held {
		if a.JobID != "" && a.IsLevel() && !above[a.Fingerprint] {
			ids = append(ids, a.JobID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the jobs of open alerts: %w", err)
	}
	return jobs, nil
}

// gone says why a job is not expected to fire any more; empty: it is.
func gone(job repository.AlertJob, known bool) alert.Resolution {
	switch {
	case !known || job.Deleted:
		return alert.ByDeletion
	case job.Status == entity.JobPaused:
		return alert.ByPause
	case job.Status == entity.JobFinished:
		return alert.ByEndOfSchedule
	}
	return ""
}

// recoverRuns is how many executions the sweep reads of a job at least: the run that ended last
// may have begun before some others.
const recoverRuns = 200

// Recover ends the episodes about jobs whose newest run has succeeded, and tells of that
// where a rule of type RECOVERED asks for it. It asks the newest executions of each job
// with an open alert. It returns how many episodes it has ended.
func (e *Evaluator) Recover(ctx context.Context) (int, error) { return e.recover(ctx, nil) }

// RecoverJobs is Recover for some jobs, of which a run has succeeded. Where no alert is
// open it costs one statement.
func (e *Evaluator) RecoverJobs(ctx context.Context, ids []string) (int, error) {
	some := make(map[string]bool, len(ids))
	for _, id := range ids {
		some[id] = true
	}
	return e.recover(ctx, some)
}

// recover does it for some jobs; nil is all.
func (e *Evaluator) recover(ctx context.Context, some map[string]bool) (int, error) {
	held, err := episode.Held(ctx, e.Alerts, &e.forRecovery)
	if err != nil {
		return 0, err
	}
	byJob := map[string][]*alert.Alert{}
	var ids []string
	for _, a := range held {
		id := cmp.Or(a.Details[alerting.StepDetail], a.JobID) // a step ends its alerts by its own success
		if a.Open() && id != "" && !a.IsLevel() && !a.Type.Stands() && (some == nil || some[id]) {
			if byJob[id] == nil {
				ids = append(ids, id)
			}
			byJob[id] = append(byJob[id], a)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	rules, err := e.rules(ctx)
	if err != nil {
		return 0, err
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("read the jobs of open alerts: %w", err)
	}
	total, reader := 0, fires.NewReader(e.Runs, fires.NewBudget(), e.Clock.Now())
	var errs []error
	for _, id := range e.nextJobs(ids) { // a job whose alerts cannot end holds up no alerts of other jobs
		err := batch.Guard(func() error {
			n, err := e.recoverJob(ctx, reader, rules, jobs[id], id, byJob[id])
			total += n
			return err
		})
		if errors.Is(err, fires.ErrLater) {
			e.recoverFrom.Store(&id)
			break
		}
		if errs = append(errs, err); err != nil && batch.Passes(err) {
			break
		}
	}
	if total > 0 {
		e.Wake()
	}
	return total, errors.Join(errs...)
}

// nextJobs begins with the job at which the last look used up its rows. So jobs with many runs keep no other job
// waiting for ever.
func (e *Evaluator) nextJobs(ids []string) []string {
	from := e.recoverFrom.Swap(nil)
	if from == nil {
		return ids
	}
	at := max(slices.Index(ids, *from), 0)
	return slices.Concat(ids[at:], ids[:at])
}

func (e *Evaluator) recoverJob(ctx context.Context, reader *fires.Reader, rules map[string]*alert.Rule,
	job repository.AlertJob, id string, open []*alert.Alert,
) (int, error) {
	now := e.Clock.Now()
	var changes []alerting.Change
	var by alerting.Run
	for _, a := range open {
		rule := rules[a.RuleID]
		past, err := reader.Before(ctx, fires.Question{
			JobID: id, Moment: now.Add(fires.Ahead), Fires: alerting.RunsToEnd(a, rule), First: recoverRuns,
			Enough: func(runs []alerting.Run) bool { return alerting.EnoughToEnd(a, rule, runs) },
		})
		if err != nil {
			return 0, err
		}
		if run, yes := alerting.EndedBy(a, rule, past.Runs); yes {
			by = run
			changes = append(changes, alerting.Ended(a, alert.ByRecovery, run.At, now))
		}
	}
	if len(changes) == 0 {
		return 0, nil
	}
	signals := recovered(rules, ruleset.JobOf(job), by)
	ended := 0
	err := e.Store.Write(ctx, repository.LaneAPI, "alert-recover", func(ctx context.Context, tx repository.Tx) error {
		ended = 0
		if err := applyAll(ctx, tx, changes, &ended); err != nil || ended == 0 {
			return err // at 0 somebody else has ended them, and has told of it
		}
		_, err := episode.Raise(ctx, tx, signals, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("end the alerts of job %s: %w", id, err)
	}
	return ended, nil
}

// recovered is the evidence of a recovery, for the rules that ask for it.
func recovered(rules map[string]*alert.Rule, job alerting.Job, run alerting.Run) (out []alerting.Signal) {
	for _, r := range append(ruleset.InOrder(rules), alerting.ShortRules(job)...) {
		if r.Type == alert.Recovered && r.Enabled && job.SeenBy(r) {
			out = append(out, alerting.RecoveryOf(r, job, run))
		}
	}
	return out
}
