package app

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// explainer answers why jobs did, or did not, run.
func (e *Engine) explainer(compiler *schedule.Compiler) *explain.ExplainService {
	return explain.NewExplainService(explain.Deps{
		Ledger: e.ledger, Jobs: e.Store.Jobs, Executions: e.Store.Executions, Groups: e.Store, Nodes: e.Store,
		Alerts: e.Store, Schedules: compiler, Clock: e.Clock,
		Kept: time.Duration(e.cfg.Retention.ExecutionsDays) * 24 * time.Hour,
	})
}

// ledger is the fire ledger as explanations read it.
func (e *Engine) ledger(ctx context.Context, q explain.LedgerQuery) (lines []explain.Line, next string, err error) {
	entries, next, err := e.Executions.Fires(ctx, execution.LedgerQuery(q))
	for _, entry := range entries {
		lines = append(lines, explain.Line(entry))
	}
	return lines, next, err
}
