package running

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// maxCarried bounds what is remembered about label sets.
const maxCarried = 1000

// queues are those that this node takes from and in which something waits. The
// greatest key of the ready range tells whether anything does, and whether
// anything waits but in the common queue: where nothing is routed, that is the
// only question.
func (t *TaskManager) queues(ctx context.Context) ([]entity.Queue, error) {
	last, err := t.Claims.Last(ctx, entity.ClaimReadyPrefix, entity.ClaimUnplacedPrefix)
	if err != nil {
		return nil, err
	}
	if last == "" {
		t.Fair.Reset()
		return nil, nil
	}
	if last.Queue() == entity.CommonQueue {
		return []entity.Queue{entity.CommonQueue}, nil
	}
	var queues []entity.Queue
	for _, q := range []entity.Queue{entity.CommonQueue, entity.NodeQueue(t.cfg.NodeID)} {
		lo, hi := q.Range()
		first, err := t.Claims.First(ctx, lo, hi)
		if err != nil {
			return nil, err
		}
		if first != "" {
			queues = append(queues, q)
		}
	}
	if !last.Queue().Labelled() { // those of labels are the last of all
		return queues, nil
	}
	labelled, err := t.labelled(ctx)
	return append(queues, labelled...), err
}

// labelled steps from one set of labels to the next and keeps those that this
// node carries.
func (t *TaskManager) labelled(ctx context.Context) (queues []entity.Queue, err error) {
	for lo := entity.LabelQueues; ; {
		first, err := t.Claims.First(ctx, lo, entity.ClaimUnplacedPrefix)
		if err != nil || first == "" {
			return queues, err
		}
		q := first.Queue()
		ok, err := t.carries(ctx, q)
		if err != nil {
			return nil, err
		}
		if ok {
			queues = append(queues, q)
		}
		_, lo = q.Range()
	}
}

// carries reports whether the node carries the labels of a queue. A queue says
// only their hash; what they are, the job of a run in it tells. One that was
// edited or deleted tells nothing: the sweep sends its runs elsewhere.
func (t *TaskManager) carries(ctx context.Context, q entity.Queue) (bool, error) {
	if known, ok := t.carried[q]; ok {
		return known, nil
	}
	lo, hi := q.Range()
	rows, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: 1})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	jobs, err := t.Jobs.Load(ctx, []string{rows[0].JobID})
	if err != nil {
		return false, err
	}
	job := jobs[rows[0].JobID]
	if job == nil || entity.LabelQueue(job.Routing.Labels) != q {
		return false, nil
	}
	if len(t.carried) >= maxCarried {
		clear(t.carried)
	}
	t.carried[q] = routing.Match(job.Routing.Labels, t.cfg.Labels)
	return t.carried[q], nil
}
