// Package rendezvous assigns keys to nodes by highest random weight: a key belongs
// to the node with the best score for it. All nodes that know the same members
// compute the same owner, in any order of the members and without communication.
// When a node leaves, only its own keys move. When a node joins, only the keys that
// it takes over move.
//
// Golden vectors freeze the scores. The scores use integers only: nodes of
// different releases and processors must agree on them.
package rendezvous

import (
	"hash/fnv"
	"math/bits"
)

// MaxWeight is the greatest weight of a node; a greater one counts as MaxWeight.
const MaxWeight = 1000

// Node is a member of a ring. Weight is its share of the keys relative to the other
// nodes, 1–MaxWeight; less than 1 counts as 1.
type Node struct {
	ID     string
	Weight int
}

// Ring is a set of nodes, prepared for many keys. It is immutable and safe for
// concurrent use.
type Ring struct{ nodes []node }

type node struct {
	id     string
	hash   uint64
	weight uint64
}

// New returns the ring of the members. Ids should differ; of members with the same
// id the heaviest counts.
func New(members []Node) Ring {
	nodes := make([]node, len(members))
	for i, n := range members {
		nodes[i] = node{id: n.ID, hash: fnv1a(n.ID), weight: uint64(min(max(n.Weight, 1), MaxWeight))}
	}
	return Ring{nodes: nodes}
}

// Owner returns the id of the node that owns the key; empty when the ring is empty.
// Over many keys each node owns a share in proportion to its weight. Whether a key
// goes to one of two nodes depends on these two alone.
func (c Ring) Owner(key uint64) string {
	if len(c.nodes) == 0 {
		return ""
	}
	key = mix(key)
	best := c.nodes[0].enter(key)
	for i := 1; i < len(c.nodes); i++ {
		if e := c.nodes[i].enter(key); e.beats(best) {
			best = e
		}
	}
	return best.id
}

// entry is the score of a node for one key.
type entry struct {
	*node
	draw, cost uint64
}

func (r *node) enter(key uint64) entry {
	draw := mix(r.hash ^ key)
	return entry{node: r, draw: draw, cost: cost(draw)}
}

// beats orders by cost divided by weight, then by the greater draw, then by the
// smaller id: a total order. Among equal weights the greater draw always wins.
func (e entry) beats(o entry) bool {
	if mine, other := e.cost*o.weight, o.cost*e.weight; mine != other {
		return mine < other
	}
	if e.draw != o.draw {
		return e.draw > o.draw
	}
	return e.id < o.id
}

// cost is −log₂(draw / 2⁶⁴) with 32 bits behind the point, always positive and
// never rising with the draw. For uniform draws it is exponentially distributed.
// Each node divides its cost by its weight; it has the smallest with a probability
// in exact proportion to its weight. Linear interpolation between the logarithms of
// the table shifts a share by less than 1 % of it.
func cost(draw uint64) uint64 {
	draw = max(draw, 1)
	zeros := bits.LeadingZeros64(draw)
	mantissa := draw << zeros << 1 >> 32 // what follows the leading one: 6 + 26 bits
	at, rest := mantissa>>26, mantissa&(1<<26-1)
	log := logs[at] + (logs[at+1]-logs[at])*rest>>26
	return uint64(zeros+1)<<32 - log
}

// logs are log₂(1 + i/64) with 32 bits behind the point.
var logs = [65]uint64{
	0x000000000, 0x005b9e5a1, 0x00b5d69bb, 0x010eb38a0, 0x01663f6fb, 0x01bc84241, 0x02118b11a, 0x02655d3c5,
	0x02b803474, 0x0309857a0, 0x0359ebc5b, 0x03a93dc98, 0x03f782d72, 0x0444c1f6b, 0x049101eac, 0x04dc4933b,
	0x05269e12f, 0x0570068e8, 0x05b888736, 0x06002958c, 0x0646eea24, 0x068cdd82a, 0x06d1fafdd, 0x07164beb5,
	0x0759d4f81, 0x079c9aa88, 0x07dea15a3, 0x081fed45d, 0x086082807, 0x08a064fd5, 0x08df988f5, 0x091e20ea1,
	0x095c01a3a, 0x09993e356, 0x09d5d9fd5, 0x0a11d83f5, 0x0a4d3c25e, 0x0a8808c38, 0x0ac241135, 0x0afbe7fa1,
	0x0b3500472, 0x0b6d8cb54, 0x0ba58feb2, 0x0bdd0c7ca, 0x0c1404eae, 0x0c4a7ba58, 0x0c80730b0, 0x0cb5ed695,
	0x0ceaecfeb, 0x0d1f73f9c, 0x0d53847ac, 0x0d8720936, 0x0dba4a47b, 0x0ded038e6, 0x0e1f4e517, 0x0e512c6e5,
	0x0e829fb69, 0x0eb3a9f02, 0x0ee44cd5a, 0x0f148a170, 0x0f446359b, 0x0f73da38e, 0x0fa2f045e, 0x0fd1a708c,
	0x100000000,
}

// Hash spreads strings evenly over 64 bits; it is frozen like the scores.
func Hash(text string) uint64 { return mix(fnv1a(text)) }

// Key is the hash of one numbered part of what the string names, such as a shard
// of a job.
func Key(text string, part int) uint64 { return mix(fnv1a(text) + mix(uint64(part))) }

func fnv1a(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// mix spreads every bit of x over all bits of the result. FNV does not do that for names
// that differ in their last letter only. It is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
