package entity

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Queue is the beginning of the claim keys of runs that may start now, and
// names who may take them (docs/routing.md):
//
//	W*              whoever is free
//	W<node id>!     that node, on a general slot
//	W<node id>!C    that node, on a slot for commands
//	W~<class>!      whoever is free and fit for the class
//	W@<worker>!     that worker, on a slot of the kind that its end tells
//	W~K<class>!     a worker of a worker group that is free and fit for the class
//	X<class>!       nobody: no node is fit, one that is is awaited
//
// A class is the hash of what it asks for, in 16 hex digits. Before it stands C for
// commands, H for a handler and K for a worker group: then there are two hashes, of the group and of what it asks for,
// with C between them for commands. For runs without a node the letters say what is missing.
// Without a letter no node carries the labels.
//
// Node ids hold letters, digits, dots, dashes and underscores, so that none of
// them begins with a mark or contains one. A node id has at most 49 characters.
type Queue string

// CommonQueue is that of runs which any node may take. Its keys are the
// smallest of all queues.
const CommonQueue Queue = claimReady + "*"

// The first character of the queues of classes, the end of names, and what
// classes and the queues of nodes ask for. Hex digits are none of these letters.
const (
	classMark   = "~"
	nameEnd     = "!"
	markCommand = "C"
	markHandler = "H"
	markWorkers = "K"
)

// WorkerMark is what ids of workers begin with, and ids of nodes never do.
const WorkerMark = "@"

// ClassQueues is where the queues of classes begin, behind all others that can
// be taken from.
const ClassQueues ClaimKey = claimReady + classMark

// CommandClasses are the queues of classes that ask for commands.
func CommandClasses() ClaimSpan {
	return span(string(ClassQueues) + markCommand)
}

// WorkerClasses are the queues of classes that ask for a worker, of any worker group. No node takes from them.
func WorkerClasses() ClaimSpan {
	return span(string(ClassQueues) + markWorkers)
}

// WorkerClassesOf are those of one worker group, and of groups whose names have the same hash. Gateways ask for these
// alone.
func WorkerClassesOf(group string) ClaimSpan {
	return span(string(WorkerClasses().Lo) + textHash(group))
}

// WorkerQueuesOf are the queues of the single workers of a worker group.
func WorkerQueuesOf(group string) ClaimSpan {
	return span(claimReady + WorkerMark + group + ".")
}

// workerQueue is the queue of a class that asks for a worker. Its handler is in it, so that runs which no worker of a
// gateway can take hold up none behind them.
func workerQueue(c NodeClass) Queue {
	kind := ""
	if c.Command {
		kind = markCommand
	}
	return Queue(string(WorkerClassesOf(c.Workers).Lo) + kind + c.hash() + nameEnd)
}

// unroutableFor is what waits for a node that has what the mark stands for.
func unroutableFor(mark string) ClaimSpan {
	return span(claimUnroutable + mark)
}

// NodeQueues is where the queues of nodes begin; they end at ClassQueues.
const NodeQueues ClaimKey = claimReady + "+"

// NodeQueue is that of runs which are meant for one node, and for its slots of
// that kind.
func NodeQueue(nodeID string, kind SlotKind) Queue {
	q := Queue(claimReady + nodeID + nameEnd)
	if kind == SlotCommand {
		q += markCommand
	}
	return q
}

// NodeQueueSpan is all that waits for a node.
func NodeQueueSpan(nodeID string) ClaimSpan {
	q := claimReady + nodeID
	return ClaimSpan{ClaimKey(q + nameEnd), ClaimKey(q) + ClaimKey(nameEnd[0]+1)}
}

// ClassQueue is that of runs which any node may take that is fit for the class.
func ClassQueue(c NodeClass) Queue {
	switch {
	case c.Workers != "":
		return workerQueue(c)
	case c.Anything():
		return CommonQueue
	}
	return Queue(claimReady + classMark + c.mark() + c.hash() + nameEnd)
}

// LabelQueue is ClassQueue of labels alone. Nodes of the former release put runs
// there whatever else they ask for.
func LabelQueue(labels map[string]string) Queue { return ClassQueue(NodeClass{Labels: labels}) }

// UnroutableQueue is that of runs for which there is no node; missing is what the
// nodes lack: WaitCommand, WaitHandler, or WaitNode; WaitWorker or WaitHandler where workers lack it.
func UnroutableQueue(c NodeClass, missing Wait) Queue {
	mark := ""
	switch missing {
	case WaitCommand:
		mark = markCommand
	case WaitHandler:
		mark = markHandler
	case WaitWorker:
		mark = markWorkers
	}
	return Queue(claimUnroutable + mark + c.hash() + nameEnd)
}

// GroupQueue is that of runs which wait for a slot in their group. Nobody takes
// from it; who frees a slot lets the first go on (docs/limits.md).
func GroupQueue(group string) Queue {
	return Queue(claimGroup + textHash(group) + nameEnd)
}

// textHash is 64 bits of FNV-1a in 16 hex digits.
func textHash(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}

// Key orders the runs of a queue: priority 10 first, and within one priority by
// fair time (see package fairness).
func (q Queue) Key(priority int, fair time.Time) ClaimKey {
	p := min(max(10-priority, 0), 9)
	return ClaimKey(fmt.Sprintf("%s%d%012x", string(q), p, max(fair.UnixMilli(), 0)))
}

// Range bounds the keys of the queue: lo ≤ key < hi.
func (q Queue) Range() (lo, hi ClaimKey) {
	if id, ok := q.Node(); ok && q == NodeQueue(id, SlotGeneral) {
		return ClaimKey(q) + "0", ClaimKey(q) + ":" // what follows is a priority, and no letter
	}
	last := len(q) - 1
	return ClaimKey(q), ClaimKey(q[:last]) + ClaimKey(q[last]+1)
}

// Node is whose queue it is; false when it is not that of one node.
func (q Queue) Node() (id string, ok bool) {
	if q == CommonQueue || q.OfClass() || q.Unroutable() {
		return "", false
	}
	name, rest, ok := strings.Cut(string(q), nameEnd)
	if !ok || len(name) < 2 || rest != "" && rest != markCommand {
		return "", false
	}
	return name[1:], true
}

// Title is what people read of a queue: "common", "node ID" or "class HASH".
func (q Queue) Title() string {
	if id, ok := q.Node(); ok {
		return "node " + id
	}
	if q.OfClass() {
		return "class " + strings.TrimSuffix(strings.TrimPrefix(string(q), claimReady+classMark), nameEnd)
	}
	return "common"
}

// Kind is the kind of slots that the runs in the queue need. A former release may have put
// runs of another kind into the common queue, or into a queue of labels.
func (q Queue) Kind() SlotKind {
	if strings.HasSuffix(string(q), nameEnd+markCommand) || CommandClasses().Of(ClaimKey(q)) ||
		WorkerClasses().Of(ClaimKey(q)) && strings.Contains(string(q), markCommand) {
		return SlotCommand
	}
	return SlotGeneral
}

// OfClass reports whether the queue is that of a class.
func (q Queue) OfClass() bool { return strings.HasPrefix(string(q), string(ClassQueues)) }

// Unroutable reports whether nobody may take what is in the queue.
func (q Queue) Unroutable() bool { return UnroutableSpan().Of(ClaimKey(q)) }

// labelHash is the name of a set of labels: 64 bits of FNV-1a over the pairs in
// the order of their keys, each text with its length before it.
func labelHash(labels map[string]string) string {
	h := fnv.New64a()
	writeLabels(h, labels)
	return fmt.Sprintf("%016x", h.Sum64())
}

func writeLabels(w io.Writer, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		_, _ = fmt.Fprintf(w, "%d:%s%d:%s", len(key), key, len(labels[key]), labels[key])
	}
}
