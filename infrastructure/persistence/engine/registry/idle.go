package registry

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// ForgetIdle deletes rows of nodes or workers, and returns how many. from selects them; its one argument is before.
// It leaves those that hold a run, and those in whose queue one waits: the claim keys tell, see entity.ClaimKey and
// entity.Queue. name is what the statements are named by.
func ForgetIdle(ctx context.Context, s *sqldb.Core, name, from string, before time.Time) (n int, err error) {
	ids, err := sqldb.Collect(ctx, s.Pool, name+".gone", "SELECT id"+from, []any{sqlvalue.TimeArg(before)},
		sqlvalue.ScanText)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		waits := entity.NodeQueueSpan(id)
		found, err := s.ExecAtOnce(ctx, repository.LaneRetention, name+".forget", "DELETE"+from+
			" AND id = ? AND NOT EXISTS (SELECT 1 FROM scheduler_job_execution WHERE claim_key = ?)"+
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_execution WHERE claim_key >= ? AND claim_key < ?)",
			sqlvalue.TimeArg(before), id, string(entity.RunningKey(id)), string(waits.Lo), string(waits.Hi))
		if err != nil {
			return n, err
		}
		n += int(found)
	}
	return n, nil
}
