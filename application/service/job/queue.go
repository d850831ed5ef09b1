package job

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// followNow bounds how long a call works on the rest of an edit or deletion of a job with
// a long queue. The sweep of the slots does the rest.
const followNow = 3 * time.Second

// moveQueue goes on, after an edit of a job, letting its queue move in steps of
// a transaction each.
func (s *JobService) moveQueue(ctx context.Context, id string) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), followNow)
	defer cancel()
	for more := true; more; {
		ok := s.step(bounded, id, func(ctx context.Context, tx repository.Tx) (e commit.PostCommit, err error) {
			jobs, err := s.Admitter.Lock(ctx, tx, []string{id})
			if err != nil || jobs[id] == nil {
				more = false
				return e, err
			}
			e, more, err = s.Admitter.Promote(ctx, tx, s.Clock.Now(), jobs[id])
			return e, err
		})
		if !ok {
			return
		}
	}
}

// rehome moves runs of a job that wait to where they will wait when the job has
// become next, in steps of a transaction each. Its finished part stays done when it
// is cut short, and the next edit goes on.
func (s *JobService) rehome(ctx context.Context, next *entity.Job) error {
	ids, err := s.Claims.WaitingOf(ctx, next.ID, maxMoved)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, admission.MoveLimit) {
		var effect commit.PostCommit
		err := s.Store.Write(ctx, repository.LaneAPI, "job.rehome", func(ctx context.Context, tx repository.Tx) error {
			effect = commit.PostCommit{}
			jobs, err := s.Admitter.Lock(ctx, tx, []string{next.ID}, next.Group)
			if err != nil || jobs[next.ID] == nil {
				return err
			}
			job := jobs[next.ID]
			job.Group, job.Limited = next.Group, next.Limited
			return s.Admitter.MoveSomeToGroup(ctx, tx, s.Clock.Now(), job, part, &effect)
		})
		if err != nil {
			return err
		}
		s.Engine.AfterCommit(effect)
	}
	return nil
}

// maxMoved bounds the runs of a job that one call moves or ends.
const maxMoved = 100_000

// closeWaiting ends the waiting runs of a job that was deleted.
func (s *JobService) closeWaiting(ctx context.Context, job *entity.Job) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), followNow)
	defer cancel()
	ids, err := s.Claims.WaitingOf(bounded, job.ID, maxMoved)
	if err != nil {
		s.Logger.Warn("the waiting runs of a deleted job are left to the sweep", "job", job.ID, "error", err)
		return
	}
	group := ""
	if job.Limited {
		group = job.Group
	}
	for part := range slices.Chunk(ids, admission.CloseLimit) {
		ok := s.step(bounded, job.ID, func(ctx context.Context, tx repository.Tx) (e commit.PostCommit, err error) {
			_, e, err = s.Admitter.CloseDeleted(ctx, tx, s.Clock.Now(), job.ID, group, part)
			return e, err
		})
		if !ok {
			return
		}
	}
}

// step does one transaction of the work on a job's queue. It returns false when the rest
// is left to the sweep.
func (s *JobService) step(ctx context.Context, id string,
	do func(ctx context.Context, tx repository.Tx) (commit.PostCommit, error),
) bool {
	var effect commit.PostCommit
	err := s.Store.Write(ctx, repository.LaneAPI, "job.queue", func(ctx context.Context, tx repository.Tx) (err error) {
		effect, err = do(ctx, tx)
		return err
	})
	if err == nil {
		s.Engine.AfterCommit(effect)
		return true
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		s.Logger.Warn("the queue of a job is left to the sweep", "job", id, "error", err)
	}
	return false
}
