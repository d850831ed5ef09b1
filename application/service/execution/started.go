package execution

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// Started are the runs that the end of the fire of an execution has started, in the order of the definition. Runs of
// groups that are not seen are left out.
func (s *ExecutionService) Started(ctx context.Context, row *entity.Execution, sees func(group string) bool,
) ([]*entity.Execution, error) {
	if !row.Status.Final() || row.IsRange() || row.JobVersion == 0 {
		return nil, nil
	}
	job, err := repository.VersionOrNil(ctx, s.Jobs, row.JobID, row.JobVersion)
	if err != nil || job == nil || len(job.Next) == 0 {
		return nil, err
	}
	whole := []*entity.Execution{row}
	if row.ShardTotal > 1 {
		if whole, err = s.Executions.OfFire(ctx, row.JobID, row.FireKey); err != nil {
			return nil, fmt.Errorf("read the executions of the fire %s: %w", row.FireKey, err)
		}
	}
	end, over := chain.EndOf(job, whole)
	if !over {
		return nil, nil
	}
	var jobs, ids []string
	for _, n := range job.Next {
		if !slices.Contains(jobs, n.Job) {
			jobs, ids = append(jobs, n.Job), append(ids, chain.ID(end, n.Job))
		}
	}
	groups, err := s.Jobs.GroupsOf(ctx, jobs)
	if err != nil {
		return nil, err
	}
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := entity.ByID(rows)
	var started []*entity.Execution
	for i, id := range ids {
		if run := byID[id]; run != nil && sees(groups[jobs[i]]) {
			started = append(started, run)
		}
	}
	return started, nil
}
