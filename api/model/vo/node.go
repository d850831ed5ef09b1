package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Node is one process of the platform.
type Node struct {
	ID     string            `json:"id"`
	IP     string            `json:"ip"`
	Port   int               `json:"port"`
	Status entity.NodeStatus `json:"status"`
	Epoch  int64             `json:"epoch"`
	Roles  []string          `json:"roles"`
	Labels map[string]string `json:"labels"`
	// Weight is the node's share under WEIGHTED routing.
	Weight int `json:"weight"`
	// Slots are for HTTP and CUSTOM jobs, and Running is how many are taken.
	Slots   int `json:"slots"`
	Running int `json:"running"`
	// Capabilities are what the node can run.
	Capabilities Capabilities `json:"capabilities"`
	// CPU is the share of the machine's processors in use, 0–1, by whatever runs on it.
	// In a container or service with a bound it is the share of that bound. It is 0
	// where the system does not tell.
	CPU float64 `json:"cpu"`
	// Memory is the memory of the machine, or of the bounded container or service,
	// that is in use and is no cache, in bytes.
	Memory  int64  `json:"memory"`
	Version string `json:"version"`
	// Partitions are those of the jobs that the node plans.
	Partitions []int `json:"partitions"`
	// ClockOffsetMs is how far the store's clock is ahead of the node's, as far as that
	// is certain.
	ClockOffsetMs int64 `json:"clockOffsetMs"`
	// ClockSkewed says that the two clocks differ by more than a second.
	ClockSkewed   bool `json:"clockSkewed"`
	LastHeartbeat Time `json:"lastHeartbeat" format:"date-time" extensions:"x-nullable"`
}

// Capabilities are what a node can run, and how much of it at once.
type Capabilities struct {
	// Published is false for a node of a former release, which does not say what it can.
	// It may run commands in its general slots, and have any handler.
	Published bool          `json:"published"`
	Slots     []SlotsOfKind `json:"slots"`
	// Handlers are the node's own, by name; those that are built in are everywhere.
	Handlers []string `json:"handlers"`
}

// SlotsOfKind are the slots that runs of one kind hold: GENERAL for HTTP and
// CUSTOM jobs, COMMAND for commands.
type SlotsOfKind struct {
	Kind    string `json:"kind" enums:"GENERAL,COMMAND"`
	Total   int    `json:"total"`
	Running int    `json:"running"`
}

func capabilities(n entity.Node) Capabilities {
	v := Capabilities{Published: n.Publishes(), Handlers: whole(n.Handlers), Slots: []SlotsOfKind{}}
	for _, kind := range entity.SlotKinds() {
		if kind == entity.SlotGeneral || n.Publishes() {
			running, total := n.Load(kind)
			v.Slots = append(v.Slots, SlotsOfKind{Kind: kind.String(), Total: total, Running: running})
		}
	}
	return v
}

// Handler is a handler of CUSTOM jobs.
type Handler struct {
	Name string `json:"name"`
	// BuiltIn: every executor has it.
	BuiltIn bool `json:"builtIn"`
	// Nodes are the live nodes that have it.
	Nodes []string `json:"nodes"`
}

// FromHandlers makes the view of handlers.
func FromHandlers(handlers []node.Handler) []Handler {
	out := make([]Handler, len(handlers))
	for i, h := range handlers {
		out[i] = Handler{Name: h.Name, BuiltIn: h.BuiltIn, Nodes: whole(h.Nodes)}
	}
	return out
}

// FromNode makes the view of a node.
func FromNode(n entity.Node, partitions []int) Node {
	return Node{
		ID: n.ID, IP: n.IP, Port: n.Port, Status: n.Status, Epoch: n.Epoch, Roles: whole(n.Roles), Labels: labels(n.Labels),
		Weight: n.Weight, Slots: n.Slots, Running: n.Running, Capabilities: capabilities(n), CPU: n.CPU,
		Memory: n.Memory, Version: n.Version,
		Partitions: whole(partitions), ClockOffsetMs: n.ClockOffset.Milliseconds(),
		ClockSkewed: entity.Skewed(n.ClockOffset), LastHeartbeat: Time(n.LastHeartbeat),
	}
}
