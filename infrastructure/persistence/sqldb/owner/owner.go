// Package owner leads from the ids of steps to the workflows that own them.
package owner

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Steps are the steps among some ids, by these. Ids of jobs are no ids of steps, so that nothing is read for them.
func Steps(ctx context.Context, c *sqldb.Conn, ids []string) (map[string]workflow.StepRow, error) {
	asked := stepIDs(ids)
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

func stepIDs(ids []string) (steps []string) {
	for _, id := range sqlvalue.OnlyASCIIIDs(ids) {
		if identity.IsStepID(id) {
			steps = append(steps, id)
		}
	}
	return steps
}

// Titles are those of the steps among some ids, by these: a step is of the group of its workflow, and named after it.
// Ids of jobs are no ids of steps, so that nothing is read for them.
func Titles(ctx context.Context, c *sqldb.Conn, ids []string) (map[string]repository.JobName, error) {
	asked := stepIDs(ids)
	if len(asked) == 0 {
		return nil, nil
	}
	out := make(map[string]repository.JobName, len(asked))
	_, err := sqldb.CollectIn(ctx, c, "job.steps", "SELECT s.id, j.group_name, j.name, s.name FROM "+ofWorkflow+
		" WHERE {in}", "s.id", asked, func(rows *sql.Rows) (id string, err error) {
		var title repository.JobName
		var step string
		_, err = sqlvalue.ScanRow(rows, &id, &title.Group, &title.Name, &step)
		title.Name += "/" + step
		out[id] = title
		return id, err
	})
	return out, err
}

// ofWorkflow are steps s with the definitions j of their workflows.
const ofWorkflow = "scheduler_workflow_step s JOIN scheduler_job_definition j ON j.id = s.workflow_id"

// Group is the SQL for the group of the job, or else of the step, whose id a column holds. Each is looked up by that
// id: a join would let the optimizer begin with all jobs of a group.
func Group(column string) string {
	return "COALESCE((SELECT group_name FROM scheduler_job_definition WHERE id = " + column + "), " +
		"(SELECT j.group_name FROM " + ofWorkflow + " WHERE s.id = " + column + "))"
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
