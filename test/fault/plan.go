// Package fault runs several nodes of the real binary on one store. It injects every fault that a
// test can, alone and in pairs. It checks from outside that the promises hold all the while.
package fault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Kind is a way to disturb the cluster.
type Kind string

// The kinds. Faults of a node name it; the others touch all of them.
const (
	Kill          Kind = "kill -9 a node"
	KillAt        Kind = "kill -9 a node inside a transaction"
	KillFlow      Kind = "kill -9 a node inside a transaction of workflows"
	Freeze        Kind = "freeze a node"
	Restart       Kind = "stop a node gracefully"
	Upgrade       Kind = "replace the program of a node"
	Twin          Kind = "start a second process under a node's id"
	CutStore      Kind = "cut a node from the store"
	HoleStore     Kind = "black hole between a node and the store"
	HalfStore     Kind = "half-open connections to the store"
	SlowStore     Kind = "slow way to the store"
	LostReply     Kind = "commit applied, reply lost"
	StoreAway     Kind = "store away for all"
	StoreCrash    Kind = "kill -9 the store"
	StoreReadOnly Kind = "store read-only"
	StoreSilent   Kind = "store silent for all"
	SlowForAll    Kind = "each answer of the store takes 0.5 s"
	RowsLocked    Kind = "rows of jobs locked by somebody else"
	ClockStep     Kind = "step of a node's wall clock"
	StoreStep     Kind = "step of the store's clock"
	Flood         Kind = "flood of the API beside a slow store"
	DeleteQueue   Kind = "delete a job with a long queue"
	CommandBurst  Kind = "commands beyond their slots"
	FirstLimit    Kind = "first limit of a group beside cancels"
	CutHints      Kind = "cut a node from Redis"
	SlowHints     Kind = "slow way to Redis"
	HintsAway     Kind = "Redis away for all"
	HintsEmptied  Kind = "Redis emptied"
	HintsClock    Kind = "jump of Redis' clock"

	// The store answers what the product does not know: a statement that writes, in the stead of a commit, or after
	// one; once, for two seconds, or whatever is about one row.
	RefusedOnce Kind = "a write answered by an error, once"
	RefusedFor  Kind = "writes answered by an error, for 2 s"
	RefusedRow  Kind = "writes answered by an error, of one job"
	InsteadOnce Kind = "an error instead of a commit, once"
	InsteadFor  Kind = "an error instead of commits, for 2 s"
	InsteadRow  Kind = "an error instead of commits, of one job"
	AfterOnce   Kind = "an error after a commit, once"
	AfterFor    Kind = "an error after commits, for 2 s"
	AfterRow    Kind = "an error after commits, of one job"
)

// family says what a kind takes: two faults of one family on one node would
// undo each other.
func (k Kind) family() string {
	switch k {
	case Kill, KillAt, KillFlow, Freeze, Restart, Upgrade, Twin:
		return "process"
	case CutHints, SlowHints, HintsAway, HintsEmptied, HintsClock:
		return "hints"
	case ClockStep:
		return "clock"
	case RowsLocked:
		return "rows"
	case DeleteQueue, CommandBurst, FirstLimit:
		return "work"
	}
	if _, answers := answersOf[k]; answers {
		return "answers"
	}
	return "store"
}

// ofAll reports a kind that touches all nodes.
func (k Kind) ofAll() bool {
	return slices.Contains([]Kind{
		StoreAway, StoreCrash, StoreReadOnly, StoreSilent, StoreStep, SlowForAll, RowsLocked, HintsAway,
		HintsEmptied, HintsClock, RefusedRow, InsteadRow, AfterRow,
	}, k) || k.family() == "work"
}

// mutes reports a kind that keeps nodes from asking the store for its time. A kind that only refuses writes does not.
func (k Kind) mutes() bool {
	return slices.Contains([]Kind{
		CutStore, HoleStore, HalfStore, SlowStore, SlowForAll, StoreAway, StoreCrash, StoreSilent, Flood, Freeze,
	}, k)
}

// harm says what a kind may do to leases; a process that ends says more.
func (k Kind) harm() history.Harm {
	switch k {
	case CutStore, HoleStore, HalfStore:
		return history.HarmCut
	case StoreAway, StoreCrash, StoreReadOnly, StoreSilent:
		return history.HarmOutage
	case Freeze:
		return history.HarmFreeze
	case Restart, Upgrade:
		return history.HarmStop
	case Kill, KillAt, KillFlow:
		return history.HarmDeath
	case LostReply, Twin, RefusedOnce, InsteadOnce, AfterOnce, RefusedRow, InsteadRow, AfterRow:
		return history.HarmHiccup
	case RefusedFor, InsteadFor, AfterFor: // its beats are answered, too
		return history.HarmCut
	}
	return history.HarmNone
}

// Kinds lists what can be done. long adds what takes long, such as a twin that is refused after
// five seconds, or needs a store of its own. hints adds what needs a Redis.
func Kinds(long, hints bool) []Kind {
	all := []Kind{
		Kill, KillAt, Freeze, Restart, CutStore, HoleStore, HalfStore, SlowStore, LostReply, StoreAway,
		SlowForAll, RowsLocked, ClockStep, Flood, DeleteQueue, CommandBurst, FirstLimit,
		RefusedOnce, RefusedFor, RefusedRow, InsteadOnce, InsteadFor, InsteadRow, AfterOnce, AfterFor, AfterRow,
	}
	if long {
		all = append(all, StoreCrash, StoreReadOnly, StoreSilent, StoreStep, Twin)
	}
	if hints {
		all = append(all, CutHints, SlowHints, HintsAway, HintsEmptied, HintsClock)
	}
	return all
}

// Blow is one fault of a plan.
type Blow struct {
	Kind Kind
	// Node is the index of the node; -1 for all.
	Node int
	// Point is the failpoint of KillAt, as PS_FAILPOINT takes it.
	Point string
	// After counts from the begin of the round, For is how long it lasts.
	After, For time.Duration
	// Step is by how much a clock jumps.
	Step time.Duration
	// Number is the index of the answer, of answer.Numbers, or at which time KillFlow meets its point.
	Number int
}

// Round is one fault or some at once, and the rest that follows when all are over.
type Round struct {
	Blows []Blow
	Rest  time.Duration
}

// String shows a round on one line.
func (r Round) String() string {
	parts := make([]string, len(r.Blows))
	for i, b := range r.Blows {
		how := b.Point
		if b.Step != 0 {
			how = "by " + b.Step.String()
		}
		if b.Kind.family() == "answers" {
			how = fmt.Sprintf("%d ", answer.Numbers()[b.Number].Number)
		}
		parts[i] = fmt.Sprintf("%s %s(node %d, after %s, for %s)", b.Kind, how, b.Node, b.After, b.For)
	}
	return strings.Join(parts, " + ") + fmt.Sprintf(", rest %s", r.Rest)
}

// Terms bound a plan.
type Terms struct {
	Seed  int64
	Nodes int
	// Rounds is how many are drawn; a run ends where its time does.
	Rounds int
	// Most is how many faults a round has, 3 when 0.
	Most int
	// Longest bounds the duration of a fault, 1–20 s; Outage that of the store for
	// all, from a third of it on.
	Longest, Outage time.Duration
	Kinds           []Kind
	// Flows adds kills inside transactions of workflows to each round, of two nodes whose process it leaves alone.
	Flows bool
}

// Plan draws the rounds. The same terms give the same plan. Every kind comes
// once before any comes again.
func Plan(t Terms) []Round {
	random := rand.New(rand.NewPCG(uint64(t.Seed), 2)) //nolint:gosec // a seed that can be repeated is the point
	d := &drawer{Terms: t, random: random}
	rounds := make([]Round, t.Rounds)
	for i := range rounds {
		first := d.blow(d.next())
		rounds[i].Blows = []Blow{first}
		want, tries := d.more(), 0
		for ; len(rounds[i].Blows) <= want && tries < 2*want; tries++ {
			next := d.blow(d.next())
			next.After = d.between(0, 2*time.Second)
			if rounds[i].takes(&next, t.Nodes) {
				rounds[i].Blows = append(rounds[i].Blows, next)
			} else {
				d.back(next.Kind)
			}
		}
		for n := 0; t.Flows && n < killFlowNodes; n++ {
			next := d.blow(KillFlow)
			next.After = d.between(0, 2*time.Second)
			if rounds[i].takes(&next, t.Nodes) {
				rounds[i].Blows = append(rounds[i].Blows, next)
			}
		}
		rest := min(longestRest, t.Longest/3)
		rounds[i].Rest = d.between(time.Second, rest)
		if random.IntN(5) == 0 {
			rounds[i].Rest += rest // so that what follows from a fault is seen without another one
		}
	}
	return rounds
}

// killFlowFor is how long a failpoint of workflows may take to be met.
const killFlowFor = 4 * time.Second

// A node meets so many of them in a row, and no further one after so long.
const (
	killFlowTimes = 3
	killFlowUntil = 6 * time.Second
	// killFlowNodes is how many nodes do so in one round.
	killFlowNodes = 2
)

// longestRest bounds the rest after a round.
const longestRest = 3 * time.Second

// more is how many faults a round has besides its first: none once in four rounds, or in eight.
func (d *drawer) more() int {
	most := cmp.Or(d.Most, 3)
	if d.random.IntN(4*most/3) == 0 {
		return 0
	}
	return most/3 + d.random.IntN(most-most/3)
}

// takes reports whether a fault does not undo one of the round; it may go to the
// next node for that.
func (r Round) takes(b *Blow, nodes int) bool {
	for range nodes {
		undone := slices.ContainsFunc(r.Blows, func(a Blow) bool {
			return a.Kind.family() == b.Kind.family() && (a.Kind.ofAll() || b.Kind.ofAll() || a.Node == b.Node)
		})
		if !undone {
			return true
		}
		if b.Node >= 0 {
			b.Node = (b.Node + 1) % nodes
		}
	}
	return false
}

type drawer struct {
	Terms
	random *rand.Rand
	bag    []Kind
}

// next takes a kind out of the bag, which is filled anew when empty.
func (d *drawer) next() Kind {
	if len(d.bag) == 0 {
		d.bag = slices.Clone(d.Kinds)
		d.random.Shuffle(len(d.bag), func(i, j int) { d.bag[i], d.bag[j] = d.bag[j], d.bag[i] })
	}
	k := d.bag[0]
	d.bag = d.bag[1:]
	return k
}

// back puts a kind back that could not be used.
func (d *drawer) back(k Kind) { d.bag = append(d.bag, k) }

func (d *drawer) blow(k Kind) Blow {
	longest := d.Longest
	if d.random.IntN(3) > 0 {
		longest = max(longest/3, 2*time.Second)
	}
	b := Blow{Kind: k, Node: d.random.IntN(d.Nodes), For: d.between(time.Second, longest)}
	switch k {
	case KillAt:
		points := crash.KillPoints()
		b.Point = fmt.Sprintf("%s=kill@%d", points[d.random.IntN(len(points))], 1+d.random.IntN(20))
	case KillFlow: // its point is the one that was met least
		b.For, b.Number = killFlowFor, 1+d.random.IntN(2)
	case Freeze:
		b.For = min(b.For, 15*time.Second)
	case StoreCrash, StoreReadOnly, StoreSilent:
		b.For = d.between(d.Outage/3, d.Outage/2)
		if d.random.IntN(4) == 0 {
			b.For = d.between(d.Outage/2, d.Outage)
		}
	case StoreStep: // a step ahead keeps jobs idle for as long afterwards: what was due is done
		steps := []time.Duration{
			3 * time.Second, 6 * time.Second, -3 * time.Second, -10 * time.Second, -time.Minute, -time.Hour,
		}
		b.Step = steps[d.random.IntN(len(steps))]
	case ClockStep, HintsClock:
		steps := []time.Duration{1500 * time.Millisecond, 10 * time.Second, time.Minute, time.Hour, 26 * time.Hour}
		b.Step = steps[d.random.IntN(len(steps))] * time.Duration(1-2*d.random.IntN(2))
	case RefusedOnce, RefusedFor, RefusedRow, InsteadOnce, InsteadFor, InsteadRow, AfterOnce, AfterFor, AfterRow:
		b.For, b.Number = answeredFor, d.random.IntN(len(answer.Numbers()))
	case Restart, Twin, HintsEmptied, DeleteQueue, CommandBurst, FirstLimit:
		b.For = 0
	}
	if k.ofAll() {
		b.Node = -1
	}
	return b
}

func (d *drawer) between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return (least + time.Duration(d.random.Int64N(int64(most-least)))).Truncate(10 * time.Millisecond)
}
