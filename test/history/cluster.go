package history

import "time"

// Cluster is what was done to several nodes, and what they showed meanwhile.
type Cluster struct {
	// Nodes are their ids; none: one node ran, and no rule of a cluster applies.
	Nodes []string
	// Beat and Lease are the terms of membership.
	Beat, Lease time.Duration
	Faults      []Fault
	// Looks are final rows as they were read on the way, ids and ends.
	Looks    []Row
	Answers  []Reply
	Sights   []Member
	Holdings []Holding
	Exits    []Exit
	// Outputs are of runs that ended well.
	Outputs []Output
	Twins   []Twin
	// Fences and Deaths are what nodes have logged of themselves and of others.
	Fences []Fence
	Deaths []Death
	// Unexplained are runs that waited and did not say for what.
	Unexplained []Row
	// Leftovers are places of fires in the store after everything was quiet.
	Leftovers []Leftover
	// Bound is the most that a node may hold.
	Bound Holding
	// Steps are those of the store's clock, which dates rows.
	Steps []Step
}

// Step is a time in which the store's clock was off. It began to be before Seen, and was right again after Back, by
// Until at the latest.
type Step struct {
	By                      time.Duration
	From, Seen, Back, Until time.Time
}

// Harm is what a fault does to a node.
type Harm string

// The harms.
const (
	// HarmDeath ends the process; the fault is over when the next one is ready.
	HarmDeath Harm = "death"
	// HarmCut keeps the node from beating while it can run code: it must stop its
	// work before others take it.
	HarmCut Harm = "cut"
	// HarmFreeze stops the process where it is; it can stop nothing before it goes on.
	HarmFreeze Harm = "freeze"
	// HarmOutage is one of the store for everybody, which takes the lease from nobody.
	HarmOutage Harm = "outage"
	// HarmNone must not take it either: a slow store, a step of a clock, a flood, and
	// all that is done to Redis.
	HarmNone Harm = "none"
	// HarmStop asks the process to end in order, HarmGone is from its end until the
	// next one is ready.
	HarmStop Harm = "stop"
	HarmGone Harm = "gone"
	// HarmHiccup leaves it its lease.
	HarmHiccup Harm = "hiccup"
)

// Fault is something that was done to a node.
type Fault struct {
	Kind string
	Harm Harm
	// Node is empty when it was done to all.
	Node        string
	From, Until time.Time
	// Store: it touches the store or the way to it, so that what must be stored may
	// be late.
	Store bool
	// Worker: it was done to a worker, whose lease is not a node's.
	Worker bool
	// Mute: it keeps nodes from asking the store for its time.
	Mute bool
}

// Reply is how the API of a node answered a call; Status 0: not at all.
type Reply struct {
	Node, What string
	Status     int
	At         time.Time
	Took       time.Duration
	Detail     string
}

// Member is a node of the registry as the API showed it.
type Member struct {
	ID     string
	Epoch  int64
	Status string
}

// Holding is what a process holds at a moment: descriptors, bytes of memory,
// connections to the store.
type Holding struct {
	Node        string
	At          time.Time
	Descriptors int
	Memory      int64
	Connections int
}

// Output is what a run has put out, as the API shows it.
type Output struct {
	Execution string
	Lines     []Line
}

// Line is one line of it.
type Line struct {
	Attempt int
	Stream  string
	Line    string
}

// Twin is a second process that was started under a node's id; At is when that
// was decided.
type Twin struct {
	Node     string
	At       time.Time
	Accepted bool
}

// Fence is when a node stopped its work because its lease was over, or with Works began again, by its own line. A
// process that starts works, too: what a former one has stopped says nothing of it. It has no epoch yet.
type Fence struct {
	Node  string
	Epoch int64
	At    time.Time
	Works bool
	Why   string
}

// Death is when a node had declared an epoch of another one DOWN, by its own line. Former programs name no epoch.
type Death struct {
	Node, By string
	Epoch    int64
	At       time.Time
}

// Leftover is a place that a fire holds in the store, of its job or of its group.
type Leftover struct {
	Of, Job, Fire string
}

// Exit is the end of a process that was asked to stop; the code of one that
// was not asked is -1.
type Exit struct {
	Node string
	At   time.Time
	Code int
}
