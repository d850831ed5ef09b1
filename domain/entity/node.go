package entity

import "time"

// NodeStatus is the registry's view of a node.
type NodeStatus string

// The states of a node.
const (
	NodeUp       NodeStatus = "UP"
	NodeSuspect  NodeStatus = "SUSPECT"
	NodeDown     NodeStatus = "DOWN"
	NodeDraining NodeStatus = "DRAINING"
)

// Node is one process of the platform. Epoch grows with each start under the
// same id and guards every write of a former life (engine rule 26).
type Node struct {
	ID            string
	IP            string
	Port          int
	Status        NodeStatus
	Epoch         int64
	Roles         []string
	Labels        map[string]string
	Version       string
	Slots         int
	Running       int
	LastHeartbeat time.Time
	CreateTime    time.Time
	UpdateTime    time.Time
}
