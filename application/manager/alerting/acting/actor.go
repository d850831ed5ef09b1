// Package acting does what rules ask for when their alerts fire.
package acting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// actionBatch is how many actions one turn judges.
	actionBatch = 50
	// actionLease is how long one try of an action may take.
	actionLease = 30 * time.Second
	// startedSpan is how far back an execution counts as one that the rule has started.
	startedSpan = 7 * 24 * time.Hour
	// troubleSpan is how long a refusal for want of rights is shown.
	troubleSpan = time.Hour
	// maxActor is the most characters of who changed a job, as the store keeps it.
	maxActor = 100
	// troubleInterval is how often such refusals are read.
	troubleInterval = 30 * time.Second
)

// Also runs in the transaction of an action, with the executions that it starts.
type Also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error

// Doer does what actions ask for, as a user does by the API. Each calls also in its
// transaction, but where there is nothing to change, or no transaction.
type Doer interface {
	PauseJob(ctx context.Context, jobID string, p entity.Pause, also Also) error
	RunJob(ctx context.Context, jobID, params string, by entity.Actor, also Also) error
	RetryExecution(ctx context.Context, executionID string, by entity.Actor, also Also) error
	DrainNode(ctx context.Context, nodeID string) error
}

// Rights say who may do what.
type Rights interface {
	// UserByID: see repository.Users.
	UserByID(ctx context.Context, id string) (entity.User, error)
	// Allows reports whether a user holds a permission in a group; empty is all groups.
	Allows(u entity.User, permission, group string) bool
}

// ActorDeps are the parts of an Actor.
type ActorDeps struct {
	Actions repository.AlertActions
	Alerts  repository.Alerts
	Rules   repository.AlertSettings
	Rights  Rights
	Doer    Doer
	// Audit keeps who did what. An action that it cannot keep is told in the log.
	Audit  func(ctx context.Context, e entity.AuditEntry) error
	Clock  clock.StoreClock
	Logger *slog.Logger
}

// Actor does what rules ask for when their alerts fire. It is a task of the leader; two at
// once do each action once. Safe for concurrent use.
type Actor struct {
	ActorDeps
	looked  atomic.Int64
	trouble atomic.Pointer[string]
}

// NewActor wires the parts.
func NewActor(d ActorDeps) *Actor { return &Actor{ActorDeps: d} }

// errTaken ends the transaction of an action that somebody else has done.
var errTaken = errors.New("the action is done already")

// RunOnce does the actions that wait, and returns how many it has ended.
func (r *Actor) RunOnce(ctx context.Context) (int, error) {
	due, err := r.Actions.DueActions(ctx, r.Clock.Now(), actionBatch)
	if err != nil {
		return 0, fmt.Errorf("read the actions of alerts: %w", err)
	}
	ended := 0
	var errs []error
	for _, a := range due {
		done, err := r.one(ctx, a)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s of alert %s: %w", a.Kind, a.AlertID, err))
		}
		if done {
			ended++
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := r.look(ctx); err != nil {
		errs = append(errs, err)
	}
	return ended, errors.Join(errs...)
}

// order is an action with what it is judged by.
type order struct {
	alert.Action
	rule  *alert.Rule
	alert *alert.Alert
	user  entity.User
}

// one judges an action, and does it. It reports whether the action is over.
func (r *Actor) one(ctx context.Context, a alert.Action) (bool, error) {
	o := &order{Action: a}
	refusal, err := r.refusal(ctx, o)
	if err != nil && r.Clock.Now().Sub(a.CreateTime) >= alert.ActionFor {
		return r.conclude(ctx, o, alert.ActionFailed, &refused{"failed", err.Error()})
	}
	if err != nil {
		return false, err
	}
	if refusal != nil {
		return r.refuse(ctx, o, refusal)
	}
	now := r.Clock.Now()
	granted, err := r.Actions.AllowAction(ctx, o.Action, alert.MaxActionsPerHour, now.Add(-alert.ActionSpan), now,
		now.Add(actionLease))
	switch {
	case err != nil:
		return false, err
	case granted == repository.GrantFull:
		return r.refuse(ctx, o, &refused{
			alert.RefusedLimit, fmt.Sprintf("the rule has acted %d times within an hour", alert.MaxActionsPerHour),
		})
	case granted == repository.GrantLost:
		return false, nil
	}
	err = r.act(ctx, o)
	var wrong *apperror.Error
	switch {
	case err == nil:
		// Without a transaction of its own the end is still to be written.
		if _, err := r.Actions.EndAction(ctx, r.done(o, nil)); err != nil {
			return false, err
		}
		r.record(ctx, o, 200, "", "")
		return true, nil
	case errors.Is(err, errTaken):
		return true, nil
	case errors.As(err, &wrong) && wrong.Kind != apperror.KindUnavailable && wrong.Kind != apperror.KindTooMany:
		return r.refuse(ctx, o, &refused{wrong.Code, wrong.Error()})
	case now.Sub(o.CreateTime) < alert.ActionFor:
		return false, err // it is tried again after the lease
	}
	return r.conclude(ctx, o, alert.ActionFailed, &refused{"failed", err.Error()})
}

// act does an action that may be done.
func (r *Actor) act(ctx context.Context, o *order) error {
	name := o.rule.Name
	who := cut(fmt.Sprintf("rule %s (by %s)", name, o.user.Name), maxActor)
	ctx = repository.WithActor(ctx, who)
	by := entity.Actor{User: o.user.Name, Token: "alert rule " + name}
	also := func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error {
		ended, err := tx.Alerts.EndAction(ctx, r.done(o, executions))
		if err == nil && !ended {
			return errTaken
		}
		return err
	}
	switch o.Kind {
	case alert.ActionPauseJob:
		reason := cut(fmt.Sprintf("alert rule %s: %s", name, o.alert.Content), entity.MaxPauseReason)
		p := entity.Pause{Reason: reason, User: who}
		return r.Doer.PauseJob(ctx, o.Target, p, also)
	case alert.ActionRunJob:
		return r.Doer.RunJob(ctx, o.Target, string(o.rule.Actions[o.Position].Params), by, also)
	case alert.ActionRetry:
		return r.Doer.RetryExecution(ctx, o.Target, by, also)
	default:
		return r.Doer.DrainNode(ctx, o.Target)
	}
}

// cut keeps the first characters of a text.
func cut(text string, most int) string {
	all := []rune(text)
	return string(all[:min(len(all), most)])
}

// done is an action that was done.
func (r *Actor) done(o *order, executions []*entity.Execution) alert.Action {
	a, result := o.Action, ""
	if len(executions) > 0 {
		result = executions[0].ID
	}
	a.Conclude(alert.ActionDone, "", result, r.Clock.Now())
	return a
}

// refused says why an action is not done.
type refused struct{ code, text string }

func (r *Actor) refuse(ctx context.Context, o *order, why *refused) (bool, error) {
	return r.conclude(ctx, o, alert.ActionRefused, why)
}

func (r *Actor) conclude(ctx context.Context, o *order, state alert.ActionState, why *refused) (bool, error) {
	a := o.Action
	a.Conclude(state, why.code, why.text, r.Clock.Now())
	ended, err := r.Actions.EndAction(ctx, a)
	if err != nil || !ended {
		return false, err
	}
	r.record(ctx, o, 409, why.code, why.text)
	return true, nil
}

// look reads the refusals for want of rights, so that they are shown for a while.
func (r *Actor) look(ctx context.Context) error {
	now := r.Clock.Now()
	if last := r.looked.Load(); now.UnixMilli()-last < troubleInterval.Milliseconds() {
		return nil
	}
	found, err := r.Actions.RefusedActions(ctx, []string{alert.RefusedEditorGone, alert.RefusedForbidden},
		now.Add(-troubleSpan), 1)
	if err != nil {
		return fmt.Errorf("read refused actions: %w", err)
	}
	r.looked.Store(now.UnixMilli())
	if len(found) == 0 {
		r.trouble.Store(nil)
		return nil
	}
	text := fmt.Sprintf("an action of the alert rule %s was refused: %s; save the rule with a user who has the right",
		found[0].RuleID, found[0].Result)
	r.trouble.Store(&text)
	return nil
}

// Trouble says for an hour that an action was refused for want of rights. So it becomes an
// alert of type DEGRADED, too.
func (r *Actor) Trouble() (reason string, blocks bool) {
	if text := r.trouble.Load(); text != nil {
		return *text, false
	}
	return "", false
}

// record keeps an entry of the audit log that names the rule.
func (r *Actor) record(ctx context.Context, o *order, status int, code, text string) {
	rule := map[string]string{"id": o.RuleID}
	if o.rule != nil {
		rule["name"] = o.rule.Name
	}
	changes := map[string]any{"alertRule": rule, "alertId": o.AlertID, "action": o.Kind}
	if text != "" {
		changes["why"] = text
	}
	if err := r.Audit(ctx, entity.AuditEntry{
		UserID: o.Editor, UserName: o.user.Name, Action: "RULE " + string(o.Kind), Object: o.Target, Status: status,
		Code: code, Changes: jsonOf(changes), Calls: 1,
	}); err != nil {
		r.Logger.Error("the audit entry of an action of an alert rule could not be kept", "rule", o.RuleID,
			"alert", o.AlertID, "action", o.Kind, "error", err)
	}
}
