package routing

import (
	"math/bits"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// turn is the run's index in the round of n nodes. The runs of a job are
// numbered through its fires and their shards, so any n that follow one another
// meet n nodes. Each job begins its round elsewhere, so that the first fires of
// many jobs do not meet on one node.
func (s State) turn(jobID string, n int) int {
	round := uint64(n)
	shards := uint64(max(s.Shards, 1)) % round
	fire := uint64(max(s.Fire, 0)) % round
	return int((rendezvous.Hash(jobID)%round + fire*shards + uint64(max(s.Shard, 0))%round) % round)
}

// share cuts the range of draws into n equal parts and returns the part in
// which this one lies, 0–n-1.
func share(draw uint64, n int) int {
	part, _ := bits.Mul64(draw, uint64(n))
	return int(part)
}

// weighted lays the nodes' weights side by side and returns the node on which
// the draw falls.
func weighted(nodes []*Candidate, draw uint64) string {
	total := 0
	for _, n := range nodes {
		total += n.weight()
	}
	i, at := 0, share(draw, total)
	for ; at >= nodes[i].weight(); i++ {
		at -= nodes[i].weight()
	}
	return nodes[i].ID
}

func (c *Candidate) weight() int { return min(max(c.Weight, 1), rendezvous.MaxWeight) }

// hashed gives each shard of a job to the node that scores best for it: when
// nodes come and go, the others keep theirs. It also breaks ties, differently
// for each job, so that equal nodes share what would else go to the first.
func hashed(nodes []*Candidate, jobID string, shard int) string {
	if len(nodes) == 1 {
		return nodes[0].ID
	}
	members := convert.All(nodes, func(n *Candidate) rendezvous.Node { return rendezvous.Node{ID: n.ID} })
	return rendezvous.New(members).Owner(rendezvous.Key(jobID, shard))
}
