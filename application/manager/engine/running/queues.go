package running

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// maxFitQueues bounds what is remembered about classes.
const maxFitQueues = 1000

// queues are those that this node takes from and in which something waits, for
// each of the wanted kinds of slots. The greatest key of the ready range tells
// whether anything does, and whether anything waits but in the common queue:
// where nothing is routed, that is the only question.
func (t *TaskManager) queues(ctx context.Context,
	wanted [len(entity.Slots{})]bool,
) (found [len(entity.Slots{})][]entity.Queue, err error) {
	if !wanted[entity.SlotGeneral] && !wanted[entity.SlotCommand] {
		return found, nil
	}
	ready := entity.ReadySpan()
	last, err := t.Claims.Last(ctx, ready.Lo, ready.Hi)
	if err != nil {
		return found, err
	}
	if last == "" {
		t.Fair.Reset()
		return found, nil
	}
	if last.Queue() == entity.CommonQueue {
		found[entity.SlotGeneral] = []entity.Queue{entity.CommonQueue}
		return found, nil
	}
	for _, q := range []entity.Queue{
		entity.CommonQueue, entity.NodeQueue(t.cfg.NodeID, entity.SlotGeneral),
		entity.NodeQueue(t.cfg.NodeID, entity.SlotCommand),
	} {
		if !wanted[q.Kind()] {
			continue
		}
		lo, hi := q.Range()
		first, err := t.Claims.First(ctx, lo, hi)
		if err != nil {
			return found, err
		}
		if first != "" {
			found[q.Kind()] = append(found[q.Kind()], q)
		}
	}
	if !last.Queue().OfClass() { // those of classes are the last of all
		return found, nil
	}
	return found, t.classes(ctx, wanted, &found)
}

// classes steps from one class to the next and adds those that this node is fit
// for. The queues of commands stand together: they are passed over, or nothing
// else is looked at, where the slots of one kind are taken. The queues of worker groups stand together, too; no node
// takes from them.
func (t *TaskManager) classes(ctx context.Context, wanted [len(entity.Slots{})]bool,
	found *[len(entity.Slots{})][]entity.Queue,
) error {
	all := entity.ClaimSpan{Lo: entity.ClassQueues, Hi: entity.ReadySpan().Hi}
	commands, workers := entity.CommandClasses(), entity.WorkerClasses()
	if !wanted[entity.SlotGeneral] {
		all = commands
	}
	for lo := all.Lo; ; {
		first, err := t.Claims.First(ctx, lo, all.Hi)
		if err != nil || first == "" {
			return err
		}
		if !wanted[entity.SlotCommand] && commands.Of(first) {
			lo = commands.Hi
			continue
		}
		if workers.Of(first) {
			lo = workers.Hi
			continue
		}
		q := first.Queue()
		ok, err := t.fits(ctx, q)
		if err != nil {
			return err
		}
		if ok {
			found[q.Kind()] = append(found[q.Kind()], q)
		}
		_, lo = q.Range()
	}
}

// fits reports whether the node is fit for the class of a queue. A queue says
// only its hash; what the class is, the job of a run in it tells. One that was
// edited or deleted tells nothing: the sweep sends its runs elsewhere.
func (t *TaskManager) fits(ctx context.Context, q entity.Queue) (bool, error) {
	if known, ok := t.fitQueues[q]; ok {
		return known, nil
	}
	lo, hi := q.Range()
	execs, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: 1})
	if err != nil || len(execs) == 0 {
		return false, err
	}
	jobs, err := t.Jobs.For(ctx, execs)
	if err != nil {
		return false, err
	}
	job := jobs.Of(execs[0])
	if job == nil {
		return false, nil
	}
	class := entity.NodeClassOf(job)
	if entity.ClassQueue(class) != q {
		// A run that waits for labels alone may wait for more than that to a node of the former
		// release. Whether this node can run it, the claim finds out.
		if class = (entity.NodeClass{Labels: class.Labels}); entity.ClassQueue(class) != q {
			return false, nil
		}
	}
	if len(t.fitQueues) >= maxFitQueues {
		clear(t.fitQueues)
	}
	t.fitQueues[q] = routing.Missing(class, &t.self) == entity.WaitNone
	return t.fitQueues[q], nil
}
