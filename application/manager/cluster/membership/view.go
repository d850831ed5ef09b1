package membership

import (
	"slices"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// View is what this node knows of the cluster: the nodes by its last look, and its
// own partitions. A Member writes it; planner and router read it. So they need no
// Member. Safe for concurrent use.
type View struct {
	mu         sync.Mutex
	nodes      []entity.Node
	partitions []int
}

// NewView returns a view without nodes and partitions.
func NewView() *View { return &View{partitions: []int{}} }

// Nodes returns the registry as this node last saw it.
func (v *View) Nodes() []entity.Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.nodes)
}

// Partitions implements firing.Owner; it never returns nil.
func (v *View) Partitions() []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.partitions
}

func (v *View) setNodes(nodes []entity.Node) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.nodes = nodes
}

// setPartitions replaces the partitions and returns the former ones.
func (v *View) setPartitions(partitions []int) (former []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	former, v.partitions = v.partitions, partitions
	return former
}
