package entity

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ClaimKey is a row's place in the one nullable index that answers the hot
// questions: what may start now and where, what waits for a moment, what waits
// for its job, what runs on a node. It is empty for final rows, which thereby
// leave the hot end of the index (engine rule 15).
//
//	<queue><10-priority><fair ms, hex>   may start now, see Queue
//	B<ms, hex>                           may start at that moment (back-off, delay)
//	B<ms, hex>!                          the same, and needs a place in its group then
//	G<hash>!<10-priority><fair ms, hex>  waits for a place in its group, see GroupQueue
//	Q<job id>:<seq, hex>                 waits for a live fire of its job to end
//	R<node id>                           runs on that node
type ClaimKey string

// The prefixes of the claim index. Those of queues stand side by side, runs
// that nobody can take last: the greatest key of the range tells at one look
// whether anything waits but in the common queue.
const (
	ClaimReadyPrefix    = "W"
	ClaimUnplacedPrefix = "X"
	ClaimParkedPrefix   = "B"
	ClaimGroupPrefix    = "G"
	ClaimQueuedPrefix   = "Q"
	ClaimRunningPrefix  = "R"
)

// ParkedEnd is the end of the keys of parked runs.
const ParkedEnd ClaimKey = "C"

// placeLen is the length of priority and fair time at the end of a key.
const placeLen = 1 + 12

// ReadyKey is Queue.Key of the common queue.
func ReadyKey(priority int, fair time.Time) ClaimKey { return CommonQueue.Key(priority, fair) }

// ParkedKey marks a run that may start at that moment and not before.
func ParkedKey(until time.Time) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%012x", ClaimParkedPrefix, max(until.UnixMilli(), 0)))
}

// DelayedKey is ParkedKey for a run that needs a place in its group when its
// moment has come, and takes none before.
func DelayedKey(until time.Time) ClaimKey { return ParkedKey(until) + nameEnd }

// QueuedKey marks a run that waits for its job; seq keeps the order of fires.
func QueuedKey(jobID string, seq int64) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%s:%012x", ClaimQueuedPrefix, jobID, seq))
}

// QueuedRange bounds the keys of the runs that wait for one job: lo ≤ key < hi.
func QueuedRange(jobID string) (lo, hi ClaimKey) {
	return ClaimKey(ClaimQueuedPrefix + jobID + ":"), ClaimKey(ClaimQueuedPrefix + jobID + ";")
}

// QueuedFire is what QueuedKey made the key of; ok is false for other keys.
func (k ClaimKey) QueuedFire() (jobID string, seq int64, ok bool) {
	at := strings.LastIndexByte(string(k), ':')
	if !k.Queued() || at < 0 {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(string(k[at+1:]), 16, 64)
	return string(k[1:at]), seq, err == nil
}

// RunningKey marks a run held by a node.
func RunningKey(nodeID string) ClaimKey { return ClaimKey(ClaimRunningPrefix + nodeID) }

// Ready reports whether the run may start now, on some node.
func (k ClaimKey) Ready() bool { return strings.HasPrefix(string(k.Queue()), ClaimReadyPrefix) }

// Queued reports whether the run waits for its job.
func (k ClaimKey) Queued() bool { return k != "" && k[:1] == ClaimQueuedPrefix }

// Delayed reports whether the run needs a place in its group at its moment.
func (k ClaimKey) Delayed() bool {
	return strings.HasPrefix(string(k), ClaimParkedPrefix) && strings.HasSuffix(string(k), nameEnd)
}

// Grouped reports whether the run waits for a place in its group.
func (k ClaimKey) Grouped() bool { return strings.HasPrefix(string(k), ClaimGroupPrefix) }

// Wait is what a run waits for.
type Wait string

// What runs wait for: a place of their group or their job, a moment, a node that
// is fit, or a free slot where they were sent.
const (
	WaitNone  Wait = ""
	WaitGroup Wait = "GROUP"
	WaitJob   Wait = "JOB"
	WaitTime  Wait = "TIME"
	WaitNode  Wait = "NODE"
	WaitSlot  Wait = "SLOT"
)

// WaitsFor is what the run waits for; WaitNone when it does not wait.
func (k ClaimKey) WaitsFor() Wait {
	if k == "" {
		return WaitNone
	}
	return map[ClaimKey]Wait{
		ClaimGroupPrefix: WaitGroup, ClaimQueuedPrefix: WaitJob, ClaimParkedPrefix: WaitTime,
		ClaimUnplacedPrefix: WaitNode, ClaimReadyPrefix: WaitSlot,
	}[k[:1]]
}

// Queue is where the run waits that may start now; empty when it may not.
func (k ClaimKey) Queue() Queue {
	at := len(k) - placeLen
	if at < 2 || k[:1] != ClaimReadyPrefix && k[:1] != ClaimUnplacedPrefix {
		return ""
	}
	return Queue(k[:at])
}

// Place is the order of the run among those of all queues, that of its group
// included: priority, then fair time. It is empty for runs that are in none.
func (k ClaimKey) Place() string {
	if k.Queue() == "" && !k.Grouped() {
		return ""
	}
	return string(k[len(k)-placeLen:])
}

// In is the key of the same place in another queue.
func (k ClaimKey) In(q Queue) ClaimKey { return ClaimKey(q) + ClaimKey(k.Place()) }

// FairTime is the fair time of a run that is in a queue.
func (k ClaimKey) FairTime() (time.Time, bool) {
	if k.Queue() == "" {
		return time.Time{}, false
	}
	return moment(k[len(k)-placeLen+1:])
}

// ParkedUntil is the moment a parked run waits for.
func (k ClaimKey) ParkedUntil() (time.Time, bool) {
	if len(k) < 2 || k[:1] != ClaimParkedPrefix {
		return time.Time{}, false
	}
	return moment(ClaimKey(strings.TrimSuffix(string(k[1:]), nameEnd)))
}

func moment(hex ClaimKey) (time.Time, bool) {
	ms, err := strconv.ParseInt(string(hex), 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}
