package simulate

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Kind is a way to disturb the nodes, or something that a user does.
type Kind string

// The faults.
const (
	Kill         Kind = "kill a node"
	KillInside   Kind = "kill a node inside of a transaction"
	Freeze       Kind = "freeze a node"
	Restart      Kind = "stop a node in order"
	Drain        Kind = "drain a node"
	Silent       Kind = "store silent for a node"
	SilentForAll Kind = "store silent for all"
	CutOff       Kind = "node cut off from the store and the others"
	NodeStep     Kind = "step of a node's clock"
	NodeDrift    Kind = "drift of a node's clock"
	StoreStep    Kind = "step of the store's clock"
	StoreDrift   Kind = "drift of the store's clock"
	Deaf         Kind = "receiver of alerts refuses"
	Slow         Kind = "receiver of alerts is slow"

	LostBefore Kind = "answer of a commit lost, and the commit"
	LostAfter  Kind = "answer of a commit lost"
	LostForAll Kind = "answers of commits lost, for all"
	Refused    Kind = "error instead of a commit"
)

// The errors that the store answers writes by, by what the product makes of them: Class names each.
const (
	forAll = "store answers writes by an error, for all: "
	forRow = "store answers what is about a job by an error: "
)

// blow is one fault of a plan.
type blow struct {
	kind Kind
	// at counts from the begin of the plan, and lasts is how long it goes on.
	at, lasts time.Duration
	// node is the index of the node; -1: all.
	node int
	// jump is by how much the clock of a node jumps, step that of the store, ppm by how much one drifts.
	jump, step time.Duration
	ppm        int64
	// err is what the store answers; place is where.
	err   failure
	place answer.Place
	seed  uint64
}

// fault is what the oracle is told of a blow.
func (b blow) fault() history.Fault {
	f := history.Fault{Kind: string(b.kind), Harm: history.HarmNone}
	switch b.kind {
	case Kill, KillInside:
		f.Harm = history.HarmDeath
	case Freeze:
		f.Harm, f.Mute = history.HarmFreeze, true
	case Restart:
		f.Harm = history.HarmStop
	case Silent, CutOff:
		f.Harm, f.Store, f.Mute = history.HarmCut, true, true
	case SilentForAll:
		f.Harm, f.Store, f.Mute = history.HarmOutage, true, true
	case StoreStep: // nothing is due while the clock shows times again
		f.Store = true
	}
	if b.answers() {
		f.Harm, f.Store = history.HarmOutage, true
		if b.once() || b.err.row {
			f.Harm = history.HarmHiccup
		}
	}
	return f
}

// answers reports a blow that answers in the stead of the store.
func (b blow) answers() bool { return b.err.err != nil }

// once reports a blow that answers one statement of one node.
func (b blow) once() bool { return b.kind == LostBefore || b.kind == LostAfter || b.kind == Refused }

// span is how long a blow has effects that another one could undo.
func (b blow) span() time.Duration {
	switch b.kind {
	case StoreStep:
		return b.lasts + max(b.step, 0)
	case StoreDrift: // and back
		return 2 * b.lasts
	case KillInside:
		return b.lasts + strikes
	}
	return b.lasts
}

// family says what a kind takes: two faults of one family on one node would undo each other.
func (b blow) family() string {
	switch b.kind {
	case Kill, KillInside, Freeze, Restart, Drain:
		return "process"
	case Silent, SilentForAll, CutOff:
		return "silence"
	case NodeStep, NodeDrift:
		return "clock"
	case StoreStep, StoreDrift:
		return "store clock"
	case Deaf, Slow:
		return "receiver"
	}
	return "answers"
}

// drawer draws a plan.
type drawer struct {
	random   *rand.Rand
	nodes    int
	failures []failure
	bag      []blow
}

// between is a time between two others.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return (least + time.Duration(random.Int64N(int64(most-least)))).Truncate(10 * time.Millisecond)
}

// one picks one of a list.
func one[T any](random *rand.Rand, list ...T) T { return list[random.IntN(len(list))] }

// kinds has a blow of each kind, without its details.
func kinds(failures []failure) (all []blow) {
	for _, k := range []Kind{
		Kill, KillInside, Freeze, Restart, Drain, Silent, SilentForAll, CutOff, NodeStep, NodeDrift, StoreStep, StoreDrift,
		Deaf, Slow,
	} {
		all = append(all, blow{kind: k})
	}
	for _, k := range []Kind{LostBefore, LostAfter, LostForAll} {
		all = append(all, blow{kind: k, err: lost})
	}
	for _, f := range failures {
		for _, row := range []bool{false, true} {
			f.row = row
			if f.allowed() {
				all = append(all, blow{kind: f.kind(), err: f})
			}
		}
	}
	return append(all, blow{kind: Refused, err: failures[0]})
}

// Kinds lists all faults, and all that users do. The folder is for files of a moment.
func Kinds(dir string) (all []Kind, err error) {
	failures, err := provoke(dir)
	for _, b := range kinds(failures) {
		all = append(all, b.kind)
	}
	return append(all, userKinds()...), err
}

// plan draws the blows of so long a time. Every kind comes once before any comes again.
func plan(random *rand.Rand, nodes int, failures []failure, lasts time.Duration) []blow {
	d := &drawer{random: random, nodes: nodes, failures: failures}
	var all []blow
	at := 5 * time.Second
	for at < lasts {
		var round []blow
		for range 1 + random.IntN(3) {
			b := d.next()
			b.at = at + between(random, 0, 3*time.Second)
			if !b.fits(round, nodes) {
				d.bag = append(d.bag, b)
				continue
			}
			round = append(round, b)
		}
		over := at
		for _, b := range round {
			over = max(over, b.at+b.span())
		}
		all = append(all, round...)
		at = over + between(random, 2*time.Second, 12*time.Second)
		if random.IntN(6) == 0 {
			at += 30 * time.Second // so that what follows from a fault is seen without another one
		}
	}
	slices.SortStableFunc(all, func(a, b blow) int { return int(a.at - b.at) })
	return all
}

// fits reports whether a blow does not undo one of its round; it may go to another node for that.
func (b *blow) fits(round []blow, nodes int) bool {
	for range nodes {
		if !slices.ContainsFunc(round, func(a blow) bool {
			return a.family() == b.family() && (a.node < 0 || b.node < 0 || a.node == b.node)
		}) {
			return true
		}
		if b.node >= 0 {
			b.node = (b.node + 1) % nodes
		}
	}
	return false
}

// next takes a kind out of the bag, which is filled anew when empty.
func (d *drawer) next() blow {
	if len(d.bag) == 0 {
		d.bag = kinds(d.failures)
		d.random.Shuffle(len(d.bag), func(i, j int) { d.bag[i], d.bag[j] = d.bag[j], d.bag[i] })
	}
	b := d.bag[0]
	d.bag = d.bag[1:]
	return d.detail(b)
}

// detail draws the details of a blow.
func (d *drawer) detail(b blow) blow {
	r := d.random
	b.node, b.seed = r.IntN(d.nodes), r.Uint64()
	b.lasts = between(r, time.Second, one(r, 4*time.Second, 4*time.Second, 15*time.Second))
	switch b.kind {
	case SilentForAll:
		b.node = -1
	case CutOff:
		b.lasts = between(r, 2*time.Second, 15*time.Second)
	case NodeStep:
		b.jump = one(r, 1500*time.Millisecond, 10*time.Second, time.Minute, 30*time.Minute, time.Hour, 26*time.Hour) *
			time.Duration(1-2*r.IntN(2))
	case NodeDrift:
		b.ppm = one[int64](r, -maxDrift, maxDrift)
	case StoreStep: // a step ahead keeps jobs idle for as long afterwards: what was due is done
		b.node = -1
		b.step = one(r, 3*time.Second, 6*time.Second, 30*time.Second, -3*time.Second, -10*time.Second, -time.Minute,
			-30*time.Minute, -time.Hour)
	case StoreDrift:
		b.node, b.lasts, b.ppm = -1, between(r, 20*time.Second, 60*time.Second), one[int64](r, -maxDrift, maxDrift)
	case Deaf, Slow, LostForAll:
		b.node = -1
	}
	if b.answers() {
		b.lasts = 2 * time.Second
		if b.err.row {
			b.lasts = 11*time.Second + after
		}
		if !b.once() {
			b.node = -1
		}
		b.place = answer.Statement
		switch b.kind {
		case LostBefore, Refused:
			b.place = answer.InsteadOfCommit
		case LostAfter:
			b.place = answer.AfterCommit
		case LostForAll:
			b.place = one(r, answer.InsteadOfCommit, answer.AfterCommit)
		}
	}
	return b
}
