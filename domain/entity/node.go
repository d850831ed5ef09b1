package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
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
	// RoleStandby stands in the row of a node that stands by, in place of the roles of those that work. No process takes
	// it by a setting.
	RoleStandby = "standby"
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
	// Slots and Running are the general slots and those taken; CommandSlots and
	// CommandRunning those for commands, none where the node runs no commands.
	Slots          int
	Running        int
	CommandSlots   int
	CommandRunning int
	// Handlers are the node's own handlers, sorted; those that are built in are
	// not among them.
	Handlers []string
	// HandlersHash names the list. It is empty where the node does not publish
	// what it can, see Publishes.
	HandlersHash string
	// Weight is the node's share under WEIGHTED routing, from 1.
	Weight int
	// CPU is the share of the machine's processors in use, 0–1; Memory is the
	// memory of it in use, in bytes. A control group that bounds the process stands
	// for the machine.
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
	// Unreadable says what of the stored row cannot be read; empty is nothing.
	Unreadable string
}

// Publishes reports whether the row says what the node can. That of a node of
// the former release does not: it may have any handler, and run commands.
func (n Node) Publishes() bool { return n.HandlersHash != "" }

// Load is how many slots of a kind are taken, and how many there are. A node
// that does not publish its kinds has one for all.
func (n Node) Load(kind SlotKind) (running, slots int) {
	if kind == SlotCommand && n.Publishes() {
		return n.CommandRunning, n.CommandSlots
	}
	return n.Running, n.Slots
}

// HasHandler reports whether the node is known to have the handler.
func (n Node) HasHandler(name string) bool {
	_, own := slices.BinarySearch(n.Handlers, name)
	return own || BuiltIn(name)
}

// MaxHandlers bounds the names of a node's own handlers together, each with one
// byte more, in bytes.
const MaxHandlers = 1<<16 - 1

// HandlersHash names a sorted list of handlers; never empty.
func HandlersHash(handlers []string) string {
	sum := sha256.Sum256([]byte(strings.Join(handlers, "\n")))
	return hex.EncodeToString(sum[:8])
}

// MaxClockOffset is how far a node's clock may be off the store's before people
// are told. Fires are due by the store's clock all the same; what a node writes
// by its own, such as its log, is off.
const MaxClockOffset = time.Second

// Skewed reports whether a clock is further off than MaxClockOffset.
func Skewed(offset time.Duration) bool { return offset.Abs() > MaxClockOffset }

// Has reports whether the node takes a role.
func (n Node) Has(role string) bool { return slices.Contains(n.Roles, role) }

// OldNodes names the nodes that are up and run another release, each with its version, for people.
func OldNodes(nodes []Node, release string) string {
	var old []string
	for _, n := range nodes {
		if n.Status != NodeDown && n.Version != release {
			old = append(old, n.ID+" ("+n.Version+")")
		}
	}
	return strings.Join(old, ", ")
}
