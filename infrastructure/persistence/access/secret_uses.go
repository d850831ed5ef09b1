package access

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// usesPage is how many jobs whose data hold the text are looked at together.
const usesPage = 200

// jobDataRow is what a look at the data of a job needs of its row.
type jobDataRow struct {
	ID        string
	Name      string
	GroupName string
	JobData   string
}

// TableName implements GORM's Tabler.
func (jobDataRow) TableName() string { return "scheduler_job_definition" }

// JobsNaming implements repository.SecretUses. It reads the data of all jobs:
// no index knows what stands in them.
func (r *Secrets) JobsNaming(ctx context.Context, secret string, within, except []string,
	limit int,
) ([]*entity.Job, error) {
	var out []*entity.Job
	after := ""
	for {
		query := r.s.Pool.GORM(ctx, "secret.uses").Where("id > ? AND deleted = 0 AND INSTR(job_data, ?) > 0", after,
			placeholder.OfSecret(secret))
		if within != nil {
			query = query.Where("group_name IN ?", within)
		}
		if len(except) > 0 {
			query = query.Where("group_name NOT IN ?", except)
		}
		var rows []jobDataRow
		if err := query.Select("id", "name", "group_name", "job_data").Order("id").Limit(usesPage).Find(&rows).
			Error; err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.ID
			// The text may stand there escaped, and mean nothing.
			if slices.Contains(placeholder.SecretNames(row.JobData), secret) {
				out = append(out, &entity.Job{ID: row.ID, Name: row.Name, Group: row.GroupName, Data: row.JobData})
			}
			if len(out) == limit {
				return out, nil
			}
		}
		if len(rows) < usesPage {
			return out, nil
		}
	}
}
