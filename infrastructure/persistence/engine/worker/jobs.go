package worker

import (
	"context"
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/job"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// jobsPage is how many jobs whose routing holds the text are looked at together.
const jobsPage = 200

// jobRow is what a look at the routing of a job needs of its row.
type jobRow struct{ ID, Name, GroupName, JobType, Routing string }

// TableName implements GORM's Tabler.
func (jobRow) TableName() string { return "scheduler_job_definition" }

// mayStrand asks strand about the jobs that name a locked worker group and that are left behind. No index knows what
// stands in a routing.
func mayStrand(ctx context.Context, c *sqldb.Conn, name string, left func(*entity.Job) bool,
	strand repository.StrandJobs,
) error {
	if strand == nil {
		return nil
	}
	var jobs []*entity.Job
	after := ""
	for len(jobs) < repository.MaxStranded {
		var rows []jobRow
		if err := c.GORM(ctx, "worker.group.jobs").Where("id > ? AND deleted = 0 AND INSTR(routing, ?) > 0", after,
			`"workers":"`+name+`"`).Order("id").Limit(jobsPage).Find(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			found := &entity.Job{ID: row.ID, Name: row.Name, Group: row.GroupName, Type: job.TypeOf(row.JobType)}
			// A label may have the name, too.
			var routing entity.Routing
			if json.Unmarshal([]byte(row.Routing), &routing) == nil && routing.Workers == name && left(found) &&
				len(jobs) < repository.MaxStranded {
				jobs = append(jobs, found)
			}
		}
		if len(rows) < jobsPage {
			break
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return strand(jobs)
}

// strandedBy says which jobs the workers of a former group ran and those of the next one do not. possible is false
// where there cannot be any.
func strandedBy(former, next *worker.Group) (left func(*entity.Job) bool, possible bool) {
	possible = former.Commands && !next.Commands
	for _, group := range former.JobGroups {
		possible = possible || !next.Serves(group)
	}
	return func(job *entity.Job) bool { return former.Runs(job) && !next.Runs(job) }, possible
}

// holder locks worker groups in transactions of others.
type holder struct{ c *sqldb.Conn }

// NewHolder gives the repository over the transaction of c.
func NewHolder(c *sqldb.Conn) repository.WorkerGroupHolder { return holder{c} }

// HoldWorkerGroup implements repository.WorkerGroupHolder. Saves do not keep each other out.
func (h holder) HoldWorkerGroup(ctx context.Context, name string) (worker.Group, error) {
	if _, err := lockGroup(ctx, h.c, h.c.Dialect.ForShare, name); err != nil {
		return worker.Group{}, err
	}
	return readGroup(ctx, h.c, name)
}
