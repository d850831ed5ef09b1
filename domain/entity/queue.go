package entity

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
)

// Queue is the beginning of the claim keys of runs that may start now, and
// names who may take them (docs/routing.md):
//
//	W*                    whoever is free
//	W~<hash of labels>!   whoever is free and carries the labels
//	W<node id>!           that node
//	X<hash of labels>!    nobody: no node is fit, one that carries the labels is awaited
//
// Node ids hold letters, digits, dots, dashes and underscores, so that none of
// them begins with a mark or contains one. A node id has at most 49 characters:
// the longest key then fills the column of 64.
type Queue string

// CommonQueue is that of runs which any node may take. Its keys are the
// smallest of all queues.
const CommonQueue Queue = "W*"

// The first character of the queues of label sets, and the end of names.
const (
	labelMark = "~"
	nameEnd   = "!"
)

// LabelQueues is where the queues of label sets begin, behind all others that
// can be taken from.
const LabelQueues ClaimKey = ClaimReadyPrefix + labelMark

// NodeQueues is where the queues of nodes begin; they end at LabelQueues.
const NodeQueues ClaimKey = ClaimReadyPrefix + "+"

// NodeQueue is that of runs which are meant for one node.
func NodeQueue(nodeID string) Queue { return Queue(ClaimReadyPrefix + nodeID + nameEnd) }

// LabelQueue is that of runs which any node may take that carries the labels.
func LabelQueue(labels map[string]string) Queue {
	return Queue(ClaimReadyPrefix + labelMark + labelHash(labels) + nameEnd)
}

// UnplacedQueue is that of runs for which there is no node.
func UnplacedQueue(labels map[string]string) Queue {
	return Queue(ClaimUnplacedPrefix + labelHash(labels) + nameEnd)
}

// GroupQueue is that of runs which wait for a place in their group. Nobody takes
// from it; who frees a place lets the first go on (docs/limits.md).
func GroupQueue(group string) Queue {
	h := fnv.New64a()
	_, _ = h.Write([]byte(group))
	return Queue(fmt.Sprintf("%s%016x%s", ClaimGroupPrefix, h.Sum64(), nameEnd))
}

// Key orders the runs of a queue: priority 10 first, and within one priority by
// fair time (see package fairness).
func (q Queue) Key(priority int, fair time.Time) ClaimKey {
	p := min(max(10-priority, 0), 9)
	return ClaimKey(fmt.Sprintf("%s%d%012x", string(q), p, max(fair.UnixMilli(), 0)))
}

// Range bounds the keys of the queue: lo ≤ key < hi.
func (q Queue) Range() (lo, hi ClaimKey) {
	last := len(q) - 1
	return ClaimKey(q), ClaimKey(q[:last]) + ClaimKey(q[last]+1)
}

// Node is whose queue it is; false when it is not that of one node.
func (q Queue) Node() (id string, ok bool) {
	if q == CommonQueue || q.Labelled() || q.Unplaced() || len(q) < 3 {
		return "", false
	}
	return string(q[1 : len(q)-1]), true
}

// Labelled reports whether the queue is that of a set of labels.
func (q Queue) Labelled() bool { return strings.HasPrefix(string(q), ClaimReadyPrefix+labelMark) }

// Unplaced reports whether nobody may take what is in the queue.
func (q Queue) Unplaced() bool { return strings.HasPrefix(string(q), ClaimUnplacedPrefix) }

// labelHash is the name of a set of labels: 64 bits of FNV-1a over the pairs in
// the order of their keys, each text with its length before it.
func labelHash(labels map[string]string) string {
	h := fnv.New64a()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s", len(key), key, len(labels[key]), labels[key])
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
