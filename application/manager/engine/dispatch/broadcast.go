package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// endBroadcasts ends what waits for a node, or a worker, that is gone and for no other (engine rule 18). A run that is
// younger than this look was meant for a node that has come back since.
func (s *sweep) endBroadcasts(ctx context.Context, q entity.Queue) error {
	return s.endAddressed(ctx, q, entity.ReasonNodeLost, nil)
}

// endAddressed ends the runs of a queue that belong there for good. Where why is given, it ends those alone for which
// it has a message.
func (s *sweep) endAddressed(ctx context.Context, q entity.Queue, reason entity.Reason,
	why func([]*entity.Execution) (map[string]string, error),
) error {
	for {
		lo, hi := q.Range()
		execs, err := s.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: batch})
		if err != nil {
			return fmt.Errorf("read the queue %s: %w", q, err)
		}
		full := len(execs) == batch
		execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool { return exec.NodeID == "" })
		var messages map[string]string
		if why != nil {
			if messages, err = why(execs); err != nil {
				return err
			}
			execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool { return messages[exec.ID] == "" })
		}
		if len(execs) == 0 {
			return nil
		}
		closed, effect, err := s.Closer.CloseWaiting(ctx, repository.LaneComplete, execs,
			func(exec *entity.Execution, now time.Time) error { return exec.Fail(reason, messages[exec.ID], now) },
			func(exec *entity.Execution, _ time.Time) bool {
				return exec.Claim.Queue() == q && exec.NodeID != "" && exec.CreateTime.Before(s.now)
			})
		if err != nil {
			return fmt.Errorf("end broadcasts that wait in the queue %s: %w", q, err)
		}
		s.Commits.AfterCommit(effect)
		for range closed {
			s.Metrics.Ended(entity.AttemptEnd{Status: entity.StatusFailed, Reason: reason})
		}
		s.moved += len(closed)
		if !full || len(closed) == 0 {
			return nil
		}
	}
}

// endRefused ends broadcasts that a worker which is up will never take: it came back without the handler or the labels,
// or its group does not run the job any more. A node runs such a run, and it fails there; no worker is handed one.
func (s *sweep) endRefused(ctx context.Context, q entity.Queue, id string) error {
	w, known := s.workers[id]
	if !known {
		return nil
	}
	return s.endAddressed(ctx, q, entity.ReasonInvalid, func(execs []*entity.Execution) (map[string]string, error) {
		messages := map[string]string{}
		if len(execs) == 0 {
			return messages, nil
		}
		jobs, err := s.Jobs.For(ctx, execs)
		if err != nil {
			return nil, fmt.Errorf("load the jobs of the queue %s: %w", q, err)
		}
		group, err := s.Router.Groups.WorkerGroup(ctx, w.Group)
		if err != nil && !apperror.Is(err, apperror.KindNotFound) {
			return nil, fmt.Errorf("read the worker group %s: %w", w.Group, err)
		}
		for _, exec := range execs {
			if job := jobs.Of(exec); job != nil {
				messages[exec.ID] = refusal(job, &w, group)
			}
		}
		return messages, nil
	})
}

// refusal says why a worker does not run a broadcast that was meant for it; empty where it does.
func refusal(job *entity.Job, w *worker.Worker, group worker.Group) string {
	class := entity.NodeClassOf(job)
	if class.Workers == w.Group && !group.Runs(job) {
		return fmt.Sprintf("the worker group %s runs no jobs of this kind for the group %s any more", w.Group, job.Group)
	}
	switch routing.MissingWorker(class, w) {
	case entity.WaitNone:
		return ""
	case entity.WaitHandler:
		return fmt.Sprintf("the worker %s came back without the handler %s", w.Instance, job.Class)
	default:
		return fmt.Sprintf("the worker %s does not fit the job any more: its labels, slots or group are others", w.Instance)
	}
}
