// Package direct starts executions on the node that records them (engine rule 14, see docs/rules.md).
package direct

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Slots are those of this node. They are reserved before the commit of a direct start, so that nothing RUNNING waits
// for one.
type Slots interface {
	// Reserve takes slots up to those wanted of each kind, and returns how many.
	Reserve(wanted entity.Slots) entity.Slots
	// Release gives reserved slots back.
	Release(given entity.Slots)
}

// Runner runs on this node what is started directly.
type Runner interface {
	// NodeIdentity is the node and epoch that direct starts carry.
	NodeIdentity() (nodeID string, epoch int64)
	// CanRun reports whether this node may run the job at all.
	CanRun(job *entity.Job) bool
	// Expect tells of executions that are about to be committed as direct starts, so
	// that they do not count as lost meanwhile; Forget that those of them that
	// were not started will not be.
	Expect(execs []*entity.Execution)
	Forget(execs []*entity.Execution)
	// Start runs committed direct starts that are expected; each uses one
	// reserved slot of its kind.
	Start(runs []entity.Run)
}

// Batch is the direct starts of one transaction. One goroutine uses it.
type Batch struct {
	slots  Slots
	runner Runner
	node   string
	epoch  int64
	// reserved are the slots that no run has taken over, and left those of them that no execution is to have yet.
	reserved, left entity.Slots
	// taken are the executions that were made RUNNING; the runner expects the first ones of them.
	taken    []*entity.Execution
	expected int
}

// May reports whether executions of a job may start directly at all: it is no coordinated one, nothing routes it, and
// this node can run it.
func May(runner Runner, job *entity.Job) bool {
	return !job.Coordinated() && job.Routing.Strategy == entity.RouteAny && runner.CanRun(job)
}

// Reserve takes slots for a transaction, up to those wanted of each kind. Where runs wait for a kind, it takes none.
// The caller closes the batch.
func Reserve(slots Slots, runner Runner, wanted entity.Slots) *Batch {
	b := &Batch{slots: slots, runner: runner}
	if wanted != (entity.Slots{}) {
		b.reserved = slots.Reserve(wanted)
		b.node, b.epoch = runner.NodeIdentity()
	}
	b.left = b.reserved
	return b
}

// Reserved are the slots that the batch holds.
func (b *Batch) Reserved() entity.Slots { return b.reserved }

// Take makes an execution that waits RUNNING on this node, if a slot of its kind is left.
func (b *Batch) Take(job *entity.Job, exec *entity.Execution, now time.Time) bool {
	kind := job.SlotKind()
	if b.left[kind] == 0 || exec.Status != entity.StatusWaiting || exec.StartOn(b.node, b.epoch, now) != nil {
		return false
	}
	b.left[kind]--
	b.taken = append(b.taken, exec)
	return true
}

// Expect lets the runner expect what was taken. It comes before the commit.
func (b *Batch) Expect() {
	b.runner.Expect(b.taken[b.expected:])
	b.expected = len(b.taken)
}

// Again is for a transaction that runs once more with new executions: it has taken none.
func (b *Batch) Again() { b.left = b.reserved }

// Start runs executions that were taken and are committed.
func (b *Batch) Start(runs []entity.Run) {
	if len(runs) == 0 {
		return
	}
	for i := range runs {
		b.reserved[runs[i].Job.SlotKind()]--
	}
	b.runner.Start(runs)
}

// Close gives back the slots of what was not started. Reconciliation finds what the store holds of it.
func (b *Batch) Close() {
	b.runner.Forget(b.taken[:b.expected])
	b.slots.Release(b.reserved)
}
