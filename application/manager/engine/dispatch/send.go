package dispatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// sendOn routes the first runs of a queue again, and goes on while at least
// more of them went elsewhere; more 0 is once. Runs of broadcasts stay.
func (s *sweep) sendOn(ctx context.Context, q entity.Queue, limit, more int) error {
	for {
		lo, hi := q.Range()
		rows, err := s.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: limit})
		if err != nil {
			return fmt.Errorf("read the queue %s: %w", q, err)
		}
		n, err := s.route(ctx, q, rows)
		s.moved += n
		if err != nil || more == 0 || n < more {
			return err
		}
	}
}

// route sends on those of the rows that belong elsewhere. Rows that are right
// where they are are not locked: the nodes claim them meanwhile.
func (s *sweep) route(ctx context.Context, q entity.Queue, rows []*entity.Execution) (moved int, err error) {
	jobIDs := make([]string, len(rows))
	for i, row := range rows {
		jobIDs[i] = row.JobID
	}
	jobs, err := s.Jobs.Load(ctx, jobIDs)
	if err != nil {
		return 0, fmt.Errorf("load the jobs of the queue %s: %w", q, err)
	}
	s.Admitter.Prepare(ctx, slices.Collect(maps.Values(jobs))...)
	var ids []string
	for _, row := range rows {
		if s.Admitter.Route(jobs[row.JobID], row, 0).Queue != q {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	slices.Sort(ids)
	var effect admission.PostCommit
	err = s.Store.Write(ctx, repository.LaneComplete, "reroute", func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		moved, effect, err = s.Admitter.Enqueue(ctx, tx, s.now, jobs, held, func(row *entity.Execution) (time.Time, bool) {
			return s.now, row.Claim.Queue() == q
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("send runs of the queue %s on: %w", q, err)
	}
	s.Commits.AfterCommit(effect)
	return moved, nil
}

// endBroadcasts ends what waits for a node that is gone and for no other
// (engine rule 18). A run that is younger than this look was meant for a node
// that has come back since.
func (s *sweep) endBroadcasts(ctx context.Context, q entity.Queue) error {
	for {
		lo, hi := q.Range()
		rows, err := s.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: batch})
		if err != nil {
			return fmt.Errorf("read the queue %s: %w", q, err)
		}
		full := len(rows) == batch
		rows = slices.DeleteFunc(rows, func(row *entity.Execution) bool { return row.NodeID == "" })
		if len(rows) == 0 {
			return nil
		}
		closed, effect, err := s.Closer.CloseWaiting(ctx, repository.LaneComplete, rows,
			func(row *entity.Execution, now time.Time) error { return row.Fail(entity.ReasonNodeLost, now) },
			func(row *entity.Execution, _ time.Time) bool {
				return row.Claim.Queue() == q && row.NodeID != "" && row.CreateTime.Before(s.now)
			})
		if err != nil {
			return fmt.Errorf("end broadcasts to a lost node: %w", err)
		}
		s.Commits.AfterCommit(effect)
		for range closed {
			s.Metrics.Ended(entity.StatusFailed, entity.ReasonNodeLost, 0, false)
		}
		s.moved += len(closed)
		if !full || len(closed) == 0 {
			return nil
		}
	}
}
