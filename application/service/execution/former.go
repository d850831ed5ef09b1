package execution

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// formerPages bounds the pages that LastSuccess reads. The cost of a page is bounded, too.
const formerPages = 5

// LastSuccess is the newest successful execution of the same job before an execution. It is nil where there is none;
// complete is false where the job has more executions than were looked at.
func (s *ExecutionService) LastSuccess(ctx context.Context,
	id string,
) (last *entity.Execution, complete bool, err error) {
	row, err := s.Executions.Get(ctx, id)
	if err != nil {
		return nil, false, err
	}
	f := repository.ExecutionFilter{JobID: row.JobID, Status: entity.StatusSuccess}
	if at, ok := identity.TimeOf(row.ID); ok {
		f.To = at.Add(time.Millisecond) // others of the same moment may have smaller ids
	}
	p := repository.Page{Limit: 2}
	for range formerPages {
		rows, next, err := s.Executions.List(ctx, f, p)
		if err != nil {
			return nil, false, err
		}
		for _, r := range rows {
			if r.ID < row.ID {
				return r, true, nil
			}
		}
		if p.Cursor = next; next == "" {
			return nil, true, nil
		}
	}
	return nil, false, nil
}
