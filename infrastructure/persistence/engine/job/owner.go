package job

import (
	"context"
	"database/sql"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// ownerMark is the placeholder of the owner in job data.
const ownerMark = "${owner}"

// addOwners reads the owners of the jobs whose data names them. Planning and
// running need no others, so that nobody pays for the column.
func addOwners(ctx context.Context, c *sqldb.Conn, jobs []*entity.Job) error {
	named := map[string]*entity.Job{}
	var ids []string
	for _, j := range jobs {
		if strings.Contains(j.Data, ownerMark) {
			named[j.ID], ids = j, append(ids, j.ID)
		}
	}
	_, err := sqldb.CollectIn(ctx, c, "job.owners",
		"SELECT id, owner FROM scheduler_job_definition"+c.Dialect.ByPrimary+" WHERE {in}", "id", ids,
		func(rows *sql.Rows) (id string, err error) {
			var owner sql.NullString
			if err = rows.Scan(&id, &owner); err == nil && named[id] != nil {
				named[id].Owner = owner.String
			}
			return id, err
		})
	return err
}
