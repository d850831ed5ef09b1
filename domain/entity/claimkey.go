package entity

import (
	"fmt"
	"strconv"
	"time"
)

// ClaimKey is a row's place in the one nullable index that answers the hot
// questions: what may start now, what waits for a moment, what waits for its
// job, what runs on a node. It is empty for final rows, which thereby leave
// the hot end of the index (engine rule 15).
//
//	W*<10-priority><fair ms, hex>   may start now on any node
//	B<ms, hex>                      may start at that moment (back-off, delay)
//	Q<job id>:<seq, hex>            waits for a live fire of its job to end
//	R<node id>                      runs on that node
type ClaimKey string

// The prefixes of the claim index.
const (
	ClaimReadyPrefix   = "W*"
	ClaimParkedPrefix  = "B"
	ClaimQueuedPrefix  = "Q"
	ClaimRunningPrefix = "R"
)

// ReadyKey orders runs that may start now: priority 10 first, and within one
// priority by fair time (see package fairness).
func ReadyKey(priority int, fair time.Time) ClaimKey {
	p := min(max(10-priority, 0), 9)
	return ClaimKey(fmt.Sprintf("%s%d%012x", ClaimReadyPrefix, p, max(fair.UnixMilli(), 0)))
}

// ParkedKey marks a run that may start at that moment and not before.
func ParkedKey(until time.Time) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%012x", ClaimParkedPrefix, max(until.UnixMilli(), 0)))
}

// QueuedKey marks a run that waits for its job; seq keeps the order of fires.
func QueuedKey(jobID string, seq int64) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%s:%012x", ClaimQueuedPrefix, jobID, seq))
}

// RunningKey marks a run held by a node.
func RunningKey(nodeID string) ClaimKey { return ClaimKey(ClaimRunningPrefix + nodeID) }

// Ready reports whether the run may start now.
func (k ClaimKey) Ready() bool { return len(k) > 2 && k[:2] == ClaimReadyPrefix }

// Queued reports whether the run waits for its job.
func (k ClaimKey) Queued() bool { return k != "" && k[:1] == ClaimQueuedPrefix }

// ParkedUntil is the moment a parked run waits for.
func (k ClaimKey) ParkedUntil() (time.Time, bool) {
	if len(k) < 2 || k[:1] != ClaimParkedPrefix {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(string(k[1:]), 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}
