// Package partitions decides which partitions this node scans: those that it owns by
// the registry, less those whose lease another node still holds (engine rule 25).
package partitions

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// Leases keeps two nodes from scanning one partition while their views of the members
// differ. It decides nothing: a node without an answer scans on (engine rule 25).
type Leases interface {
	// Claim takes or renews the leases of the partitions, and returns those that no
	// other node holds.
	Claim(ctx context.Context, partitions []int) (granted []int, err error)
	// Release gives back those that the node holds.
	Release(ctx context.Context, partitions []int) error
}

// Config holds the times of an Assigner.
type Config struct {
	// Beat is the interval of beats, Lease how long the lease of a node lasts.
	Beat, Lease time.Duration
	// Elapsed is the clock of the node's lease.
	Elapsed func() time.Duration
}

// Look is what one look at the registry says.
type Look struct {
	// Self is this node's id.
	Self  string
	Nodes []entity.Node
	// Late are the nodes whose beats are late.
	Late map[string]bool
}

// Assigner computes which partitions this node scans. It is not safe for concurrent
// use, but for Release.
type Assigner struct {
	cfg    Config
	leases Leases
	logger *slog.Logger

	// tracked is true after the first look. owners are the owners by the last look;
	// former are the owners before those.
	tracked        bool
	owners, former [entity.Partitions]string
	// foreign are the partitions whose leases other nodes hold. claimed is what this
	// node claimed last, and at is when.
	foreign map[int]foreignLease
	claimed []int
	at      time.Duration
}

// New returns an assigner that has seen no registry; leases may be nil.
func New(leases Leases, cfg Config, logger *slog.Logger) *Assigner {
	return &Assigner{cfg: cfg, leases: leases, logger: logger, foreign: map[int]foreignLease{}}
}

// Track remembers the former owner of each partition. A node that joins takes
// partitions from the nodes that own them without it. first is true at the first look.
func (a *Assigner) Track(l Look) (first bool) {
	members := partition.Members(l.Nodes)
	if first = !a.tracked; first {
		a.tracked = true
		others := slices.DeleteFunc(slices.Clone(members), func(n rendezvous.Node) bool { return n.ID == l.Self })
		a.owners = partition.Table(others)
	}
	for p, owner := range partition.Table(members) {
		if before := a.owners[p]; before != owner {
			a.former[p], a.owners[p] = before, owner
		}
	}
	return first
}

// Scanned returns the partitions that this node scans; never nil.
func (a *Assigner) Scanned(ctx context.Context, l Look) []int {
	return append([]int{}, a.withoutForeignLeases(ctx, partition.Scanned(l.Self, l.Nodes, l.Late), l)...)
}

// HandOver releases the partitions that this node no longer scans. released is false
// where the other nodes have to wait until its leases end, or it left none.
func (a *Assigner) HandOver(ctx context.Context, former, mine []int) (released bool) {
	left := slices.DeleteFunc(slices.Clone(former), func(p int) bool { return slices.Contains(mine, p) })
	if a.leases == nil || len(left) == 0 {
		return false
	}
	if err := a.Release(ctx, left); err != nil {
		a.logger.Debug("this node could not release partitions; other nodes take them when the leases end", "error", err)
		return false
	}
	return true
}

// Release gives the leases of partitions back. It is safe for concurrent use.
func (a *Assigner) Release(ctx context.Context, partitions []int) error {
	if a.leases == nil || len(partitions) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, a.cfg.Beat)
	defer cancel()
	return a.leases.Release(bounded, partitions)
}
