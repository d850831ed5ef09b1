package worker

import (
	"context"
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// jobsPage is how many jobs whose routing holds the text are looked at together.
const jobsPage = 200

// jobRow is what a look at the routing of a job needs of its row.
type jobRow struct{ ID, Name, GroupName, Routing string }

// TableName implements GORM's Tabler.
func (jobRow) TableName() string { return "scheduler_job_definition" }

// JobsOnWorkers implements repository.WorkerGroups. No index knows what stands in a routing.
func (r *Groups) JobsOnWorkers(ctx context.Context, name string, limit int) (out []*entity.Job, err error) {
	if !worker.ValidGroup(name) {
		return nil, nil
	}
	after := ""
	for len(out) < limit {
		var rows []jobRow
		if err := r.s.Pool.GORM(ctx, "worker.group.jobs").Where("id > ? AND deleted = 0 AND INSTR(routing, ?) > 0", after,
			`"workers":"`+name+`"`).Order("id").Limit(jobsPage).Find(&rows).Error; err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.ID
			// A label may have the name, too.
			var routing entity.Routing
			if json.Unmarshal([]byte(row.Routing), &routing) == nil && routing.Workers == name && len(out) < limit {
				out = append(out, &entity.Job{ID: row.ID, Name: row.Name, Group: row.GroupName})
			}
		}
		if len(rows) < jobsPage {
			break
		}
	}
	return out, nil
}
