package commit

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// PostCommit is what must be told to others once the transaction has committed.
type PostCommit struct {
	// Ready counts runs that this node may now claim, Away those that only others
	// may. ReadyCommands of those that are ready need slots for commands.
	Ready         int
	ReadyCommands int
	Away          int
	// Shared: some of them wait where every node takes from.
	Shared bool
	// Nodes are the others that may take some of them, each once; CommandNodes
	// those that may take some on slots for commands.
	Nodes        []string
	CommandNodes []string
	// Workers are the worker groups whose workers may take some of them, each once.
	Workers []string
	// NextScheduled is the earliest moment at which a scheduled run may start.
	NextScheduled time.Time
	// Waits are those that it has begun.
	Waits []entity.SteadyWait
	// Rearmed are jobs whose next fire time was set.
	Rearmed []*entity.Job
	// Stopping are running executions that were asked to stop.
	Stopping []*entity.Execution
	// Closed are executions that became final without running.
	Closed []*entity.Execution
}

// Add merges the effects of another change.
func (e *PostCommit) Add(o PostCommit) {
	e.Ready += o.Ready
	e.ReadyCommands += o.ReadyCommands
	e.Away += o.Away
	e.Shared = e.Shared || o.Shared
	for _, id := range o.Nodes {
		e.AddNode(entity.SlotGeneral, id)
	}
	for _, id := range o.CommandNodes {
		e.AddNode(entity.SlotCommand, id)
	}
	for _, group := range o.Workers {
		e.AddWorkers(group)
	}
	e.Schedule(o.NextScheduled)
	e.Waits = append(e.Waits, o.Waits...)
	e.Rearmed = append(e.Rearmed, o.Rearmed...)
	e.Stopping = append(e.Stopping, o.Stopping...)
	e.Closed = append(e.Closed, o.Closed...)
}

// AddReady adds a run that this node may now claim on a slot of the kind.
func (e *PostCommit) AddReady(kind entity.SlotKind) {
	e.Ready++
	if kind == entity.SlotCommand {
		e.ReadyCommands++
	}
}

// AddNode adds another node that may take some of the runs on slots of this kind.
func (e *PostCommit) AddNode(kind entity.SlotKind, nodeID string) {
	nodes := &e.Nodes
	if kind == entity.SlotCommand {
		nodes = &e.CommandNodes
	}
	if !slices.Contains(*nodes, nodeID) {
		*nodes = append(*nodes, nodeID)
	}
}

// AddWorkers adds a worker group whose workers may take some of the runs.
func (e *PostCommit) AddWorkers(group string) {
	if !slices.Contains(e.Workers, group) {
		e.Workers = append(e.Workers, group)
	}
}

// Schedule notes the moment at which a scheduled run may start, if it is the earliest.
func (e *PostCommit) Schedule(until time.Time) {
	if until.IsZero() {
		return
	}
	if e.NextScheduled.IsZero() || until.Before(e.NextScheduled) {
		e.NextScheduled = until
	}
}
