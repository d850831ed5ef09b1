package vo

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

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
	Weight  int `json:"weight"`
	Slots   int `json:"slots"`
	Running int `json:"running"`
	// CPU is the share of the processors in use, 0–1; Memory is in bytes.
	CPU     float64 `json:"cpu"`
	Memory  int64   `json:"memory"`
	Version string  `json:"version"`
	// Partitions are those of the jobs that the node plans.
	Partitions []int `json:"partitions"`
	// ClockOffsetMs is how far the store's clock is ahead of the node's, as far
	// as that is certain; ClockSkewed that this is more than a second, either way.
	ClockOffsetMs int64 `json:"clockOffsetMs"`
	ClockSkewed   bool  `json:"clockSkewed"`
	LastHeartbeat Time  `json:"lastHeartbeat" format:"date-time" extensions:"x-nullable"`
}

// FromNode makes the view of a node.
func FromNode(n entity.Node, partitions []int) Node {
	return Node{
		ID: n.ID, IP: n.IP, Port: n.Port, Status: n.Status, Epoch: n.Epoch, Roles: whole(n.Roles), Labels: labels(n.Labels),
		Weight: n.Weight, Slots: n.Slots, Running: n.Running, CPU: n.CPU, Memory: n.Memory, Version: n.Version,
		Partitions: whole(partitions), ClockOffsetMs: n.ClockOffset.Milliseconds(), ClockSkewed: entity.Skewed(n.ClockOffset), LastHeartbeat: Time(n.LastHeartbeat),
	}
}
