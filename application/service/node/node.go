// Package node shows nodes, drains them, and says which jobs they cannot run.
package node

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
)

// Node is a node of the registry and its share of the planning.
type Node struct {
	entity.Node
	// Partitions are those that it plans, in ascending order, as every scheduler
	// computes them from the registry.
	Partitions []int
}

// NodeService shows the nodes and drains them. Safe for concurrent use.
type NodeService struct {
	registry repository.Nodes
	doubt    string
}

// NewNodeService serves a registry. The doubt is a sentence about a store that is not known; empty for others.
func NewNodeService(registry repository.Nodes, doubt string) *NodeService {
	return &NodeService{registry, doubt}
}

// List is every node, by id.
func (s *NodeService) List(ctx context.Context) ([]Node, error) {
	nodes, err := s.registry.All(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Node, len(nodes))
	at := make(map[string]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = Node{Node: n, Partitions: []int{}}
		at[n.ID] = &out[i]
	}
	for p, owner := range partition.Table(partition.Members(nodes)) {
		if n := at[owner]; n != nil {
			n.Partitions = append(n.Partitions, p)
		}
	}
	return out, nil
}

// Get is one node.
func (s *NodeService) Get(ctx context.Context, id string) (Node, error) {
	nodes, err := s.List(ctx)
	if err != nil {
		return Node{}, err
	}
	for _, n := range nodes {
		if n.ID == id {
			return n, nil
		}
	}
	return Node{}, apperror.NotFound("node", id)
}

// Drain keeps new runs away from a node: what waits for it goes elsewhere, and
// what runs goes on. Draining a node twice changes nothing.
func (s *NodeService) Drain(ctx context.Context, id string) (Node, error) {
	return s.drain(ctx, id, true)
}

// Resume lets new runs in again.
func (s *NodeService) Resume(ctx context.Context, id string) (Node, error) {
	return s.drain(ctx, id, false)
}

func (s *NodeService) drain(ctx context.Context, id string, draining bool) (Node, error) {
	if err := s.registry.Drain(ctx, id, draining); err != nil {
		return Node{}, err
	}
	return s.Get(ctx, id)
}
