package alerting

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Actions keeps what rules do, and when they were evaluated: repository.AlertActions.
type Actions struct{ s *sqldb.Core }

const actionColumns = "id, alert_id, rule_id, rule_version, position, kind, target, state, code, result, editor, " +
	"next_try, act_time, create_time, end_time"

func scanAction(rows *sql.Rows) (a alert.Action, err error) {
	var result text
	var next, act, created, end sqlvalue.DBTime
	err = rows.Scan(&a.ID, &a.AlertID, &a.RuleID, &a.RuleVersion, &a.Position, &a.Kind, &a.Target, &a.State, &a.Code,
		&result, &a.Editor, &next, &act, &created, &end)
	a.Result, a.NextTry, a.ActTime, a.CreateTime, a.EndTime = string(result), next.Time(), act.Time(), created.Time(),
		end.Time()
	return a, err
}

// AddActions implements repository.AlertWriter.
func (w *writer) AddActions(ctx context.Context, actions []alert.Action) error {
	return bulk.Insert(ctx, w.c, "alert-action.insert", "scheduler_alert_action ("+actionColumns+")", 15,
		w.c.Dialect.OnDuplicateKeep("id"), actions, func(args []any, a alert.Action) []any {
			return append(args, a.ID, a.AlertID, a.RuleID, a.RuleVersion, a.Position, string(a.Kind), a.Target, string(a.State),
				a.Code, sqlvalue.TextOrNull(cut(a.Result)), a.Editor, sqlvalue.TimeArg(a.NextTry), sqlvalue.TimeArg(a.ActTime),
				sqlvalue.TimeArg(a.CreateTime), sqlvalue.TimeArg(a.EndTime))
		})
}

// EndAction implements repository.AlertWriter.
func (w *writer) EndAction(ctx context.Context, a alert.Action) (bool, error) {
	return endAction(ctx, w.c, a)
}

func endAction(ctx context.Context, c *sqldb.Conn, a alert.Action) (bool, error) {
	n, err := c.Exec(ctx, "alert-action.end",
		"UPDATE scheduler_alert_action SET state = ?, code = ?, result = ?, editor = ?, end_time = ? "+
			"WHERE id = ? AND state = ?", string(a.State), a.Code, sqlvalue.TextOrNull(cut(a.Result)), a.Editor,
		sqlvalue.TimeArg(a.EndTime), a.ID, string(alert.ActionOpen))
	return n == 1, err
}

// DueActions implements repository.AlertActions.
func (r *Actions) DueActions(ctx context.Context, now time.Time, limit int) ([]alert.Action, error) {
	return sqldb.Collect(ctx, r.s.Pool, "alert-action.due",
		"SELECT "+actionColumns+" FROM scheduler_alert_action WHERE state = ? AND next_try <= ? ORDER BY next_try, id "+
			"LIMIT ?",
		[]any{string(alert.ActionOpen), sqlvalue.TimeArg(now), limit}, scanAction)
}

// AllowAction implements repository.AlertActions. The row of the rule is locked, so that two
// leaders count one after the other.
func (r *Actions) AllowAction(ctx context.Context, a alert.Action, most int, since, now, next time.Time,
) (granted repository.Grant, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "alert-action-allow", func(ctx context.Context, c *sqldb.Conn) error {
		granted = repository.GrantLost
		if _, err := c.Exec(ctx, "alert-setting.lock", "UPDATE scheduler_alert_setting SET version = version WHERE id = ?",
			a.RuleID); err != nil {
			return err
		}
		if a.ActTime.IsZero() {
			used, err := c.Number(ctx, "alert-action.used",
				"SELECT COUNT(*) FROM scheduler_alert_action WHERE rule_id = ? AND act_time > ?", a.RuleID, sqlvalue.TimeArg(since))
			if err != nil {
				return err
			}
			if used >= most {
				granted = repository.GrantFull
				return nil
			}
		}
		n, err := c.Exec(ctx, "alert-action.allow",
			"UPDATE scheduler_alert_action SET act_time = COALESCE(act_time, ?), next_try = ?, editor = ? "+
				"WHERE id = ? AND state = ? AND next_try = ?", sqlvalue.TimeArg(now), sqlvalue.TimeArg(next), a.Editor, a.ID,
			string(alert.ActionOpen), sqlvalue.TimeArg(a.NextTry))
		if n == 1 {
			granted = repository.GrantGiven
		}
		return err
	})
	return granted, err
}

// EndAction implements repository.AlertActions.
func (r *Actions) EndAction(ctx context.Context, a alert.Action) (ended bool, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "alert-action-end", func(ctx context.Context, c *sqldb.Conn) error {
		ended, err = endAction(ctx, c, a)
		return err
	})
	return ended, err
}

// StartedBy implements repository.AlertActions.
func (r *Actions) StartedBy(ctx context.Context, ruleID, executionID string, since time.Time) (bool, error) {
	found, err := r.s.Pool.Number(ctx, "alert-action.started",
		"SELECT COUNT(*) FROM scheduler_alert_action WHERE rule_id = ? AND act_time > ? AND result = ?",
		ruleID, sqlvalue.TimeArg(since), executionID)
	return found > 0, err
}

// RefusedActions implements repository.AlertActions.
func (r *Actions) RefusedActions(ctx context.Context, codes []string, since time.Time, limit int,
) ([]alert.Action, error) {
	in, args := r.s.Dialect.InAny("code", codes)
	args = append([]any{string(alert.ActionRefused), sqlvalue.TimeArg(since)}, args...)
	return sqldb.Collect(ctx, r.s.Pool, "alert-action.refused",
		"SELECT "+actionColumns+" FROM scheduler_alert_action WHERE state = ? AND next_try > ? AND "+in+
			" ORDER BY next_try DESC LIMIT ?", append(args, limit), scanAction)
}

// evaluationRow is the id of the only row of scheduler_alert_evaluation.
const evaluationRow = 1

// NoteEvaluation implements repository.AlertActions.
func (r *Actions) NoteEvaluation(ctx context.Context, node string, at time.Time) error {
	return r.s.Change(ctx, repository.LaneAPI, "alert-evaluation", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "alert-evaluation.note",
			"UPDATE scheduler_alert_evaluation SET finished = ?, node_id = ? WHERE id = ? AND finished < ?",
			sqlvalue.TimeArg(at), node, evaluationRow, sqlvalue.TimeArg(at))
		if err != nil || n == 1 {
			return err
		}
		_, err = c.Exec(ctx, "alert-evaluation.insert",
			"INSERT INTO scheduler_alert_evaluation (id, finished, node_id) VALUES (?, ?, ?)"+c.Dialect.OnDuplicateKeep("id"),
			evaluationRow, sqlvalue.TimeArg(at), node)
		return err
	})
}

// LastEvaluation implements repository.AlertActions.
func (r *Actions) LastEvaluation(ctx context.Context) (time.Time, error) {
	at, _, err := sqldb.First(ctx, r.s.Pool, "alert-evaluation.last",
		"SELECT finished FROM scheduler_alert_evaluation WHERE id = ?", []any{evaluationRow},
		func(rows *sql.Rows) (at sqlvalue.DBTime, err error) { err = rows.Scan(&at); return at, err })
	return at.Time(), err
}
