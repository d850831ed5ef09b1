package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// CloseLimit bounds the runs that one transaction of CloseDeleted ends.
const CloseLimit = 200

// CloseDeleted ends those of some runs as CANCELLED(DELETED) that still wait and
// are of a deleted job (engine rule 17), and gives their slots up. group is the
// one whose limit bound the job; empty where there is none, or nobody knows. The
// job was marked as deleted before, so that nothing is added meanwhile; who ends
// many calls it again and again, each time in a transaction of its own.
func (p *Admitter) CloseDeleted(ctx context.Context, tx repository.Tx, now time.Time, jobID, group string,
	ids []string,
) (closed int, e commit.PostCommit, err error) {
	var groups []string
	if group != "" {
		groups = append(groups, group)
	}
	jobs, err := p.Lock(ctx, tx, []string{jobID}, groups...)
	if err != nil || jobs[jobID] != nil {
		return 0, e, err
	}
	execs, err := tx.Executions.Lock(ctx, ids)
	if err != nil {
		return 0, e, fmt.Errorf("lock %d runs of a deleted job: %w", len(ids), err)
	}
	execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool {
		return exec.JobID != jobID || exec.Status != entity.StatusWaiting
	})
	if len(execs) == 0 {
		return 0, e, nil
	}
	for _, exec := range execs {
		if err := exec.Cancel(entity.ReasonDeleted, now); err != nil {
			return 0, e, err
		}
	}
	if err := tx.Executions.Close(ctx, execs); err != nil {
		return 0, e, fmt.Errorf("end %d runs of a deleted job: %w", len(execs), err)
	}
	if e, err = p.Ended(ctx, tx, now, nil, execs); err != nil {
		return 0, e, err
	}
	if err := p.RecordEnds(ctx, tx, now, execs); err != nil {
		return 0, e, err
	}
	return len(execs), e, p.FillGroupSlots(ctx, tx, now, &e, groups...)
}
