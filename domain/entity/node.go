package entity

import (
	"slices"
	"time"
)

// NodeStatus is the registry's view of a node.
type NodeStatus string

// The states of a node.
const (
	NodeUp       NodeStatus = "UP"
	NodeSuspect  NodeStatus = "SUSPECT"
	NodeDown     NodeStatus = "DOWN"
	NodeDraining NodeStatus = "DRAINING"
)

// The roles that a process may take.
const (
	RoleAPI       = "api"
	RoleScheduler = "scheduler"
	RoleExecutor  = "executor"
)

// Node is one process of the platform. Epoch grows with each start under the
// same id and guards every write of a former life (engine rule 26).
type Node struct {
	ID      string
	IP      string
	Port    int
	Status  NodeStatus
	Epoch   int64
	Roles   []string
	Labels  map[string]string
	Version string
	Slots   int
	Running int
	// Weight is the node's share under WEIGHTED routing, from 1.
	Weight int
	// CPU is the share of the machine's processors in use, 0–1; Memory is what
	// the process holds, in bytes.
	CPU    float64
	Memory int64
	// ClockOffset is how far the store's clock is ahead of the node's, at least.
	ClockOffset time.Duration
	Life        NodeLife
	// DownCause is why a node that is DOWN is; empty where an older program said so.
	DownCause     string
	LastHeartbeat time.Time
	CreateTime    time.Time
	UpdateTime    time.Time
}

// MaxClockOffset is how far a node's clock may be off the store's before people
// are told. Fires are due by the store's clock all the same; what a node writes
// by its own, such as its log, is off.
const MaxClockOffset = time.Second

// Skewed reports whether a clock is further off than MaxClockOffset.
func Skewed(offset time.Duration) bool { return offset.Abs() > MaxClockOffset }

// Has reports whether the node takes a role.
func (n Node) Has(role string) bool { return slices.Contains(n.Roles, role) }
