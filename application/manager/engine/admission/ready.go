package admission

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Placement is where a run waits that may start now.
type Placement struct {
	Queue entity.Queue
	// Away: this node does not take from the queue.
	Away bool
	// Takers are the other nodes that take from the queue of a class.
	Takers []string
	// Workers is the worker group whose workers alone take from the queue.
	Workers string
}

// Router chooses where runs wait, by the nodes that are alive and the routing
// of their jobs. Safe for concurrent use.
type Router interface {
	// Prepare reads what the routing of the jobs needs to know of their runs. It
	// is called before the transaction in which they are routed; what could not
	// be read, or was not prepared, counts as unknown.
	Prepare(ctx context.Context, jobs []*entity.Job)
	// PrepareIDs is Prepare for callers that do not know the definitions yet.
	PrepareIDs(ctx context.Context, ids []string)
	// Route chooses the queue of one run. One with a node is of a broadcast and belongs there for
	// good (engine rule 18). fire is the number of its fire within the job, which
	// only coordinated jobs have.
	Route(job *entity.Job, exec *entity.Execution, fire int64) Placement
	// RecordAssignment counts a placement that is about to be stored, so that the next ones
	// see it before the registry does.
	RecordAssignment(job *entity.Job, at Placement, now time.Time)
}

// Prepare is to be called before a transaction that may make runs of the jobs
// ready; nil ones are passed over.
func (p *Admitter) Prepare(ctx context.Context, jobs ...*entity.Job) {
	if p.router != nil {
		p.router.Prepare(ctx, jobs)
	}
}

// PrepareIDs is Prepare for callers that do not know the definitions yet.
func (p *Admitter) PrepareIDs(ctx context.Context, ids ...string) {
	if p.router != nil {
		p.router.PrepareIDs(ctx, ids)
	}
}

// MakeReady gives a waiting execution its position in the claim index: at once when it
// is due, else at its moment. One that was due when it was recorded stays so: it may have
// waited for its job while the clock was set back (engine rule 13). fire is the number of its fire within the job. Of
// a job whose group has a limit it waits for a slot there, see FillGroupSlots.
func (p *Admitter) MakeReady(job *entity.Job, exec *entity.Execution, fire int64, now time.Time, e *commit.PostCommit) {
	switch {
	case exec.DueTime.After(now) && exec.DueTime.After(exec.CreateTime):
		exec.WaitUntil(exec.DueTime, job.Limited)
		e.Schedule(exec.DueTime)
	case job.Limited:
		exec.WaitIn(entity.GroupQueue(job.Group), p.position(exec, exec.DueTime, now))
	default:
		p.enqueue(job, exec, fire, exec.DueTime, now, e)
	}
}

// enqueue puts a run into the queue of those who may take it. since is from
// when on it might have started.
func (p *Admitter) enqueue(job *entity.Job, exec *entity.Execution, fire int64, since, now time.Time,
	e *commit.PostCommit,
) {
	at := p.Route(job, exec, fire)
	exec.WaitIn(at.Queue, p.position(exec, since, now))
	p.recordAssignment(job, at, now, e)
}

// position is the fair time of a run that begins to wait. An interrupted one had its turn: it goes before all of its
// priority that were due later, and does not stand behind the queue that grew meanwhile. No more of them come at once
// than a lost node had slots, so that they hold up nobody for long.
func (p *Admitter) position(exec *entity.Execution, since, now time.Time) time.Time {
	if exec.Interrupted() && exec.DueTime.Before(now) {
		return exec.DueTime
	}
	return p.fair.Fair(exec.JobID, since, now)
}

func (p *Admitter) recordAssignment(job *entity.Job, at Placement, now time.Time, e *commit.PostCommit) {
	if p.router != nil && job != nil {
		p.router.RecordAssignment(job, at, now)
	}
	if at.Queue.Unroutable() {
		return
	}
	kind := at.Queue.Kind()
	if at.Away {
		e.Away++
	} else {
		e.AddReady(kind)
	}
	if at.Workers != "" {
		e.AddWorkers(at.Workers)
	} else if id, ok := at.Queue.Node(); ok && at.Away {
		e.AddNode(kind, id)
	} else if !ok && !at.Queue.OfClass() {
		e.Shared = true
	}
	for _, id := range at.Takers {
		e.AddNode(kind, id)
	}
}

// Route says where a run that may start now would wait. The run of a deleted
// job is left to whoever comes first, to be ended.
func (p *Admitter) Route(job *entity.Job, exec *entity.Execution, fire int64) Placement {
	if p.router == nil || job == nil {
		return Placement{Queue: entity.CommonQueue}
	}
	return p.router.Route(job, exec, fire)
}

// Wanted says of a locked execution that waits whether it is to be enqueued, and
// since when it might have started.
type Wanted func(exec *entity.Execution) (since time.Time, ok bool)

// Enqueue routes those of the locked executions that still wait and are wanted, and
// stores where they went. jobs are the definitions; those that
// are missing were deleted. An execution that comes from another queue keeps its position
// among the others, and one that would stay where it is is not written.
func (p *Admitter) Enqueue(ctx context.Context, tx repository.Tx, now time.Time,
	jobs entity.Definitions, execs []*entity.Execution, wanted Wanted,
) (moved int, e commit.PostCommit, err error) {
	fires, err := p.numbers(ctx, tx, jobs, execs)
	if err != nil {
		return 0, e, err
	}
	for _, exec := range execs {
		if exec.Status != entity.StatusWaiting {
			continue
		}
		since, ok := wanted(exec)
		if !ok {
			continue
		}
		job, fire := jobs.Of(exec), fires[fireID{exec.JobID, exec.FireKey}]
		if former := exec.Claim.Queue(); former == "" {
			p.enqueue(job, exec, fire, since, now, &e)
		} else {
			at := p.Route(job, exec, fire)
			if at.Queue == former {
				continue
			}
			exec.MoveTo(at.Queue)
			p.recordAssignment(job, at, now, &e)
		}
		if err := tx.Executions.Update(ctx, exec, entity.StatusWaiting, exec.Token); err != nil {
			return 0, e, fmt.Errorf("send run %s to the queue %s: %w", exec.ID, exec.Claim.Queue(), err)
		}
		moved++
	}
	return moved, e, nil
}

type fireID struct{ job, key string }

// numbers reads the numbers of the executions' fires where the routing counts them.
func (p *Admitter) numbers(ctx context.Context, tx repository.Tx,
	jobs entity.Definitions, execs []*entity.Execution,
) (map[fireID]int64, error) {
	var fires []entity.InFlightFire
	seen := map[fireID]bool{}
	for _, exec := range execs {
		id := fireID{exec.JobID, exec.FireKey}
		if job := jobs.Of(exec); job != nil && job.Routing.Strategy == entity.RouteRoundRobin && !seen[id] {
			fires, seen[id] = append(fires, entity.InFlightFire{JobID: exec.JobID, FireKey: exec.FireKey}), true
		}
	}
	if len(fires) == 0 {
		return nil, nil
	}
	live, err := tx.InFlightFires.Some(ctx, fires)
	if err != nil {
		return nil, fmt.Errorf("read the numbers of in-flight fires: %w", err)
	}
	numbers := make(map[fireID]int64, len(live))
	for _, f := range live {
		numbers[fireID{f.JobID, f.FireKey}] = f.Seq
	}
	return numbers, nil
}
