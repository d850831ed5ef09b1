package sharding

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Rendezvous is the node that owns a partition: the one whose name together
// with the partition has the greatest hash (engine rule 25). Every node
// computes the same from the same set of names, in whatever order they come;
// when a node leaves, only its own partitions move, and when one joins, only
// those that it takes over. Without nodes there is no owner: the empty string.
//
// The hash is frozen: nodes of different releases must agree on it.
func Rendezvous(partition int, nodes []string) string {
	return owner(partition, nodes, hashes(nodes))
}

// Owned lists the partitions of a node in ascending order; none if the node is
// not among the nodes.
func Owned(nodeID string, nodes []string) []int {
	if len(nodes) == 0 {
		return nil
	}
	var owned []int
	hashed := hashes(nodes)
	for partition := range entity.Partitions {
		if owner(partition, nodes, hashed) == nodeID {
			owned = append(owned, partition)
		}
	}
	return owned
}

func owner(partition int, nodes []string, hashed []uint64) string {
	winner, best := "", uint64(0)
	for i, node := range nodes {
		score := mix(hashed[i] ^ mix(uint64(partition)))
		if i == 0 || score > best || score == best && node < winner {
			winner, best = node, score
		}
	}
	return winner
}

func hashes(nodes []string) []uint64 {
	hashed := make([]uint64, len(nodes))
	for i, node := range nodes {
		hashed[i] = hash(node)
	}
	return hashed
}

// hash is FNV-1a with 64 bits.
func hash(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return h
}

// mix spreads every bit of x over all bits of the result, which FNV does not
// do for names that differ in their last letter only. It is the finaliser of
// SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
