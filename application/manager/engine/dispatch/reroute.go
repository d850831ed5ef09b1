package dispatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// reroute routes the first runs of a queue again, and goes on while at least
// more of them went elsewhere; more 0 is once. Runs of broadcasts stay.
func (s *sweep) reroute(ctx context.Context, q entity.Queue, limit, more int) error {
	for {
		lo, hi := q.Range()
		execs, err := s.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: limit})
		if err != nil {
			return fmt.Errorf("read the queue %s: %w", q, err)
		}
		n, err := s.route(ctx, q, execs)
		s.moved += n
		if err != nil || more == 0 || n < more {
			return err
		}
	}
}

// route sends on those of the executions that belong elsewhere. Executions that are right
// where they are are not locked: the nodes claim them meanwhile.
func (s *sweep) route(ctx context.Context, q entity.Queue, execs []*entity.Execution) (moved int, err error) {
	jobs, err := s.Jobs.For(ctx, execs)
	if err != nil {
		return 0, fmt.Errorf("load the jobs of the queue %s: %w", q, err)
	}
	all := slices.Collect(maps.Values(jobs))
	s.Router.readMembers(ctx, all, func(*entity.Job) bool { return true })
	s.Admitter.Prepare(ctx, all...)
	var ids []string
	for _, exec := range execs {
		if s.Admitter.Route(jobs.Of(exec), exec, 0).Queue != q {
			ids = append(ids, exec.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	slices.Sort(ids)
	var effect commit.PostCommit
	err = s.Store.Write(ctx, repository.LaneComplete, "reroute", func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		moved, effect, err = s.Admitter.Enqueue(ctx, tx, s.now, jobs, held, func(exec *entity.Execution) (time.Time, bool) {
			return s.now, exec.Claim.Queue() == q
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("send runs of the queue %s on: %w", q, err)
	}
	s.Commits.AfterCommit(effect)
	return moved, nil
}
