package routing_test

import (
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

var start = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

var strategies = []entity.RoutingStrategy{
	entity.RouteAny, entity.RouteRoundRobin, entity.RouteRandom, entity.RouteWeighted, entity.RouteLeastLoaded,
	entity.RouteConsistentHash,
	entity.RouteFirst, entity.RouteLast, entity.RouteLFU, entity.RouteLRU, entity.RouteFailover, entity.RouteBusyOver,
}

// node is up and idle, with ten slots.
func node(id string, change ...func(*routing.Candidate)) routing.Candidate {
	c := routing.Candidate{Node: entity.Node{ID: id, Status: entity.NodeUp, Slots: 10}, Weight: 1}
	for _, f := range change {
		f(&c)
	}
	return c
}

func status(s entity.NodeStatus) func(*routing.Candidate) {
	return func(c *routing.Candidate) { c.Status = s }
}

func load(running, slots int) func(*routing.Candidate) {
	return func(c *routing.Candidate) { c.Running, c.Slots = running, slots }
}

func weight(w int) func(*routing.Candidate) {
	return func(c *routing.Candidate) { c.Weight = w }
}

func fleet(n int) []routing.Candidate {
	nodes := make([]routing.Candidate, n)
	for i := range nodes {
		nodes[i] = node(fmt.Sprintf("node-%02d", i))
	}
	return nodes
}

// tally counts the choices of n calls.
func tally(n int, choose func(i int) string) map[string]int {
	counts := map[string]int{}
	for i := range n {
		counts[choose(i)]++
	}
	return counts
}

// chosen is for calls that must find a node.
func chosen(strategy entity.RoutingStrategy, jobID string, nodes []routing.Candidate, state routing.State) string {
	id, ok := routing.Choose(strategy, jobID, nodes, state)
	if !ok {
		return "nobody"
	}
	return id
}

func job(i int) string { return fmt.Sprintf("01939b7e-0000-7000-8000-%012d", i) }
