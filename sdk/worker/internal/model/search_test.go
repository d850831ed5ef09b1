package model_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// The seeded violations: what a wrapper of the test does wrong on purpose.
type seed string

const (
	seedNone      seed = ""
	seedLease     seed = "an answer renews a lease that the store has not heard of"
	seedTakeOver  seed = "a newcomer does not await the former lease"
	seedOldRead   seed = "a gateway delivers by a read from before the poll"
	seedAck       seed = "an acknowledgement counts for all answers before it"
	seedCredits   seed = "a claim ignores the free slots"
	seedOldAnswer seed = "runs are taken from the answer to an older poll"
	seedLateClaim seed = "a late claim is delivered to a newer poll without a read"
	seedLateSent  seed = "the lease counts from the answer to the registration"
	seedNoLook    seed = "a gateway reads only when its memory asks for it"
)

// config is one search.
type config struct {
	seed          seed
	depth, faults int
	slots         int
	leaves        bool
	// fresh begins before the registration.
	fresh bool
	// still: no time passes, and nobody else claims.
	still bool
	// only are the faults of this search; none are all.
	only []string
	// sample is how many states share one fair run.
	sample uint64
}

// forgets: the worker does not remember what it ended, as after two leases. Then V10 rests on the gateway.
func (c *config) forgets() bool {
	return c.seed == seedOldRead || c.seed == seedOldAnswer || c.seed == seedLateClaim
}

func (c *config) may(fault string) bool { return len(c.only) == 0 || slices.Contains(c.only, fault) }

// key is the hash of a state, 128 bits: the chance that two of 10^8 states share one is below 10^-22.
type key [2]uint64

type node struct {
	parent int32
	step   int16
}

// search goes through all states, the nearest first.
type search struct {
	*config
	seeds [2]maphash.Seed
	seen  map[key]struct{}
	nodes []node
	fairs int
	walk  walker
}

// found is what a search came to: the trace to the first violation is among the shortest.
type found struct {
	err    error
	trace  []string
	states int
	depth  int
	fairs  int
}

type entry struct {
	w  World
	id int32
}

func (c *config) run() found {
	s := &search{
		config: c, seen: map[key]struct{}{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	w := first(c)
	if err := c.ready(&w); err != nil {
		return found{err: err}
	}
	s.nodes = append(s.nodes, node{parent: -1})
	s.seen[s.key(&w)] = struct{}{}
	layer := []entry{{w, 0}}
	depth := 0
	for ; depth < c.depth && len(layer) > 0; depth++ {
		var next []entry
		for i := range layer {
			for j, a := range c.actions(&layer[i].w) {
				w := layer[i].w
				err := c.apply(&w, a)
				if err == nil {
					err = w.check()
				}
				k := s.key(&w)
				if _, known := s.seen[k]; known && err == nil {
					continue
				}
				s.seen[k] = struct{}{}
				s.nodes = append(s.nodes, node{layer[i].id, int16(j)})
				id := int32(len(s.nodes) - 1)
				if err == nil && k[0]%c.sample == 0 {
					s.fairs++
					err = c.fair(w)
				}
				if err != nil {
					return found{err, s.trace(id), len(s.nodes), depth + 1, s.fairs}
				}
				if depth+1 < c.depth {
					next = append(next, entry{w, id})
				}
			}
			layer[i] = entry{}
		}
		layer = next
	}
	return found{states: len(s.nodes), depth: depth, fairs: s.fairs}
}

// trace names the steps to a state.
func (s *search) trace(id int32) (out []string) {
	var steps []int16
	for ; s.nodes[id].parent >= 0; id = s.nodes[id].parent {
		steps = append(steps, s.nodes[id].step)
	}
	slices.Reverse(steps)
	w := first(s.config)
	_ = s.ready(&w)
	for _, j := range steps {
		a := s.actions(&w)[j]
		text := a.String()
		if strings.HasPrefix(a.name, "deliver") {
			text = fmt.Sprintf("%s %s", a.name, w.Net[a.a])
		}
		out = append(out, text)
		_ = s.apply(&w, a)
	}
	return out
}

func (m Msg) String() string {
	name := []string{
		"register", "registered", "poll", "answer", "report", "receipts", "leave", "slow claim", "slow beat", "slow read",
	}[m.Kind]
	switch m.Kind {
	case mPoll:
		return fmt.Sprintf("%s %d of epoch %d to gateway %d, running %v", name, m.Poll.Seq, m.Epoch, m.Gate, m.Poll.Running)
	case mAnswer:
		return fmt.Sprintf("%s to %d: runs %v, leaseSeq %d", name, m.Answer.Seq, m.Answer.Runs, m.Answer.LeaseSeq)
	case mReport, mReceipts:
		return fmt.Sprintf("%s %v%v", name, m.Ends, m.Receipts)
	}
	return fmt.Sprintf("%s (process %d, gateway %d, epoch %d, seq %d)", name, m.Proc, m.Gate, m.Epoch, m.Seq)
}
