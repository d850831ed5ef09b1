package running

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// putBackWait is how long a run waits that this node claimed and cannot run,
// until it is routed again. It keeps the node from claiming it again and again
// beside nodes of the former release, whose queues do not tell runs apart.
const putBackWait = time.Second

// CanRun implements direct.Runner: the node is fit for the runs of the job.
func (t *TaskManager) CanRun(job *entity.Job) bool {
	return routing.Missing(entity.NodeClassOf(job), &t.self) == entity.WaitNone
}

// cannotRun says why a run that was claimed for a slot of a kind cannot begin on
// this node; empty when it can. It then holds the slot that it needs. A run of
// a broadcast is of this node and of no other, so that it runs, and fails where
// the node has lost what it needs.
func (t *TaskManager) cannotRun(job *entity.Job, kind entity.SlotKind) string {
	if !job.Broadcast {
		switch routing.Missing(entity.NodeClassOf(job), &t.self) {
		case entity.WaitNode:
			return "the node that took the run does not carry its labels"
		case entity.WaitCommand:
			return "the node that took the run runs no commands"
		case entity.WaitHandler:
			return "the node that took the run does not have the handler " + job.Class
		}
	}
	if need := t.kindOf(job); need != kind && !t.slots.Exchange(kind, need) {
		return "the node that took the run had no free slot of its kind"
	}
	return ""
}

// notForNodes says why no node may run what was meant for one of them for good; empty when it may. A node must
// not run the work of workers.
func notForNodes(job *entity.Job) string {
	if !job.Broadcast || job.Routing.Workers == "" {
		return ""
	}
	return "the job is for the workers of " + job.Routing.Workers + " now, and this run was meant for a node"
}

// kindOf is the slots that a run of the job takes on this node. One without
// slots for commands gets such runs of broadcasts alone, and ends them at once.
func (t *TaskManager) kindOf(job *entity.Job) entity.SlotKind {
	if kind := job.SlotKind(); kind == entity.SlotGeneral || t.cfg.CommandSlots > 0 {
		return kind
	}
	return entity.SlotGeneral
}

// slotsOf is the slots that runs take on this node.
func (t *TaskManager) slotsOf(runs []entity.Run) (s entity.Slots) {
	for i := range runs {
		s[t.kindOf(runs[i].Job)]++
	}
	return s
}

func slotOf(kind entity.SlotKind) (one entity.Slots) {
	one[kind] = 1
	return one
}
