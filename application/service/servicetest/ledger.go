package servicetest

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
)

// Ledger is the fire ledger as explanations read it.
func (d *Desk) Ledger(ctx context.Context, q explain.LedgerQuery) (lines []explain.Line, next string, err error) {
	entries, next, err := d.Executions.Fires(ctx, execution.LedgerQuery(q))
	for _, e := range entries {
		lines = append(lines, explain.Line(e))
	}
	return lines, next, err
}
