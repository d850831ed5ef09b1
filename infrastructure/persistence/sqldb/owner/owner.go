// Package owner leads from the ids of steps to the workflows that own them.
package owner

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Steps are the steps among some ids, by these. Ids of jobs are no ids of steps, so that nothing is read for them.
func Steps(ctx context.Context, c *sqldb.Conn, ids []string) (map[string]workflow.StepRow, error) {
	var asked []string
	for _, id := range sqlvalue.OnlyASCIIIDs(ids) {
		if identity.IsStepID(id) {
			asked = append(asked, id)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	rows, err := sqldb.CollectIn(ctx, c, "step.read", "SELECT id, workflow_id, name FROM scheduler_workflow_step "+
		"WHERE {in}", "id", asked, func(rows *sql.Rows) (s workflow.StepRow, err error) {
		err = rows.Scan(&s.ID, &s.WorkflowID, &s.Name)
		return s, err
	})
	steps := make(map[string]workflow.StepRow, len(rows))
	for _, row := range rows {
		steps[row.ID] = row
	}
	return steps, err
}

// Jobs are the ids with that of the workflow in place of each step. A step that nobody knows keeps its own.
func Jobs(ids []string, steps map[string]workflow.StepRow) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		if out[i] = id; steps[id].WorkflowID != "" {
			out[i] = steps[id].WorkflowID
		}
	}
	return out
}
