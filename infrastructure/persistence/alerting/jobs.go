package alerting

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/owner"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// AlertJobs implements repository.Alerts. A step is known by its workflow.
func (r *Alerts) AlertJobs(ctx context.Context, ids []string) (map[string]repository.AlertJob, error) {
	steps, err := owner.Steps(ctx, r.s.Pool, ids)
	if err != nil {
		return nil, err
	}
	owners := owner.Jobs(ids, steps)
	found, err := sqldb.CollectIn(ctx, r.s.Pool, "alert.jobs",
		"SELECT id, name, group_name, owner, labels, status, next_fire_time, deleted, COALESCE(alerts, '') "+
			"FROM scheduler_job_definition WHERE {in}", "id", sqlvalue.LockOrder(sqlvalue.OnlyASCIIIDs(owners)), scanJob)
	out := make(map[string]repository.AlertJob, len(found))
	for _, j := range found {
		out[j.ID] = j
	}
	for id, step := range steps {
		if j, known := out[step.WorkflowID]; known {
			j.StepID, j.Step = id, step.Name
			j.Alerts, j.Deadline = entity.JobAlerts{}, entity.JobDeadline{} // those are about the workflow itself
			out[id] = j
		}
	}
	return out, err
}

// scanJob reads what rules ask of a job. Labels that cannot be read are none.
func scanJob(rows *sql.Rows) (j repository.AlertJob, err error) {
	var labels, alerts text
	var next sqlvalue.DBTime
	if err = rows.Scan(&j.ID, &j.Name, &j.Group, &j.Owner, &labels, &j.Status, &next, &j.Deleted, &alerts); err != nil {
		return j, err
	}
	var unread []entity.Unread
	j.Labels = sqlvalue.ReadJSON[map[string]string]("labels", string(labels), &unread)
	j.NextFireTime = next.Time()
	told := sqlvalue.ReadJSON[struct {
		entity.JobAlerts
		Deadline entity.JobDeadline `json:"deadline"`
	}]("alerts", string(alerts), &unread)
	j.Alerts, j.Deadline = told.JobAlerts, told.Deadline
	return j, nil
}
