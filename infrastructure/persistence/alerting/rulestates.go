package alerting

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// RuleStates keeps which rules do nothing for some time: repository.RuleSuspensions.
type RuleStates struct{ s *sqldb.Core }

// SuspendRules implements repository.RuleSuspensions.
func (r *RuleStates) SuspendRules(ctx context.Context, all []alert.Suspension) error {
	if len(all) == 0 {
		return nil
	}
	ids := convert.All(all, func(s alert.Suspension) string { return s.RuleID })
	return r.s.Change(ctx, repository.LaneAPI, "rule-suspend", func(ctx context.Context, c *sqldb.Conn) error {
		if err := dropSuspensions(ctx, c, ids); err != nil {
			return err
		}
		return bulk.Insert(ctx, c, "rule-state.insert", "scheduler_rule_state (rule, until, cost, why)", 4, "", all,
			func(args []any, s alert.Suspension) []any {
				return append(args, s.RuleID, sqlvalue.TimeArg(s.Until), s.Cost, cut(s.Why))
			})
	})
}

func dropSuspensions(ctx context.Context, c *sqldb.Conn, ids []string) error {
	in, args := c.Dialect.InAny("rule", ids)
	_, err := c.Exec(ctx, "rule-state.drop", "DELETE FROM scheduler_rule_state WHERE "+in, args...)
	return err
}

// Suspensions implements repository.RuleSuspensions.
func (r *RuleStates) Suspensions(ctx context.Context) ([]alert.Suspension, error) {
	return sqldb.Collect(ctx, r.s.Pool, "rule-state.all",
		"SELECT rule, until, cost, why FROM scheduler_rule_state ORDER BY rule", nil,
		func(rows *sql.Rows) (s alert.Suspension, err error) {
			var until sqlvalue.DBTime
			err = rows.Scan(&s.RuleID, &until, &s.Cost, &s.Why)
			s.Until = until.Time()
			return s, err
		})
}

// EndSuspensions implements repository.RuleSuspensions.
func (r *RuleStates) EndSuspensions(ctx context.Context, ruleIDs []string) error {
	if len(ruleIDs) == 0 {
		return nil
	}
	return r.s.Change(ctx, repository.LaneAPI, "rule-resume", func(ctx context.Context, c *sqldb.Conn) error {
		return dropSuspensions(ctx, c, ruleIDs)
	})
}
