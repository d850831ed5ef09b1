package entity

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ClaimKey is the position of an execution in the one nullable index for the hot
// questions. It tells what may start now and where, what waits and for what, and what runs
// on a node. It is empty for final rows, which thereby leave the hot end of the index
// (engine rule 15).
//
//	<queue><10-priority><fair ms, hex>   may start now, see Queue
//	B<ms, hex>                           may start at that moment (back-off, delay)
//	B<ms, hex>!                          the same, and needs a slot in its group then
//	G<hash>!<10-priority><fair ms, hex>  waits for a slot in its group, see GroupQueue
//	H<ms, hex>                           waits for people to approve it, until that moment
//	O<ms, hex>                           runs without a node, until that moment
//	Ow                                   is an open workflow run, whose steps do the work
//	Q<job id>:<seq, hex>                 waits for an in-flight fire of its job to end
//	R<node id>                           runs on that node
//	R@<worker>                           runs on that worker, whose id begins with @
//
// A and D are kept for other kinds of waiting. No other file of the program
// writes a letter of the index: there are keys, spans and queues for that.
type ClaimKey string

// MaxClaimKey is the width of the column, in bytes.
const MaxClaimKey = 96

// The letters of the claim index. The keys of queues are neighbours, and runs that no node
// can take come last. So the greatest key of the range tells whether anything waits
// outside of the common queue.
const (
	claimScheduled  = "B"
	claimGroup      = "G"
	claimApproval   = "H"
	claimDetached   = "O"
	claimQueued     = "Q"
	claimRunning    = "R"
	claimReady      = "W"
	claimUnroutable = "X"
	// claimOpen stands behind all moments of detached runs.
	claimOpen = claimDetached + "w"
)

// claimEnd is behind every key.
const claimEnd = "~"

// ClaimSpan is a part of the claim index: Lo ≤ key < Hi.
type ClaimSpan struct{ Lo, Hi ClaimKey }

// Of reports whether the key lies in the span.
func (s ClaimSpan) Of(k ClaimKey) bool { return k != "" && s.Lo <= k && k < s.Hi }

// span is all keys that begin with a letter, or with a few.
func span(begin string) ClaimSpan {
	last := len(begin) - 1
	return ClaimSpan{ClaimKey(begin), ClaimKey(begin[:last]) + ClaimKey(begin[last]+1)}
}

// AllClaims is the whole index.
func AllClaims() ClaimSpan { return ClaimSpan{"", claimEnd} }

// ReadySpan is what some node may take.
func ReadySpan() ClaimSpan { return span(claimReady) }

// UnroutableSpan is what no node can take.
func UnroutableSpan() ClaimSpan { return span(claimUnroutable) }

// QueueSpan is both of these: every run that is in a Queue.
func QueueSpan() ClaimSpan { return ClaimSpan{span(claimReady).Lo, span(claimUnroutable).Hi} }

// ScheduledSpan is what waits for a moment.
func ScheduledSpan() ClaimSpan { return span(claimScheduled) }

// GroupedSpan is what waits for a slot in its group.
func GroupedSpan() ClaimSpan { return span(claimGroup) }

// QueuedSpan is what waits for its job.
func QueuedSpan() ClaimSpan { return span(claimQueued) }

// HeldSpan is what runs on a node, or on a worker.
func HeldSpan() ClaimSpan { return span(claimRunning) }

// WorkerHeldSpan is what runs on a worker.
func WorkerHeldSpan() ClaimSpan { return span(claimRunning + WorkerMark) }

// Holder is the node or worker that holds the run; empty when none does.
func (k ClaimKey) Holder() string {
	if !HeldSpan().Of(k) {
		return ""
	}
	return string(k[len(claimRunning):])
}

// DetachedSpan is what runs without a node, because somebody else reports its end.
func DetachedSpan() ClaimSpan { return ClaimSpan{claimDetached, claimOpen} }

// OpenSpan is the open workflow runs.
func OpenSpan() ClaimSpan { return span(claimOpen) }

// OpenKey marks an open workflow run. No sweep of detached runs meets it.
func OpenKey() ClaimKey { return claimOpen }

// RunningSpans are all that run, in order.
func RunningSpans() []ClaimSpan { return []ClaimSpan{span(claimDetached), HeldSpan()} }

// WaitingSpans are the spans of everything that waits, in order. They hold all keys
// outside of the running spans, so that a new kind of waiting of a later release is among
// them.
func WaitingSpans() []ClaimSpan {
	var out []ClaimSpan
	from := AllClaims()
	for _, s := range RunningSpans() {
		if from.Lo < s.Lo {
			out = append(out, ClaimSpan{from.Lo, s.Lo})
		}
		from.Lo = s.Hi
	}
	return append(out, from)
}

// sortKeyLen is the length of priority and fair time at the end of a key.
const sortKeyLen = 1 + 12

// ScheduledKey marks a run that may start at that moment and not before.
func ScheduledKey(until time.Time) ClaimKey {
	return momentKey(claimScheduled, until)
}

func momentKey(letter string, at time.Time) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%012x", letter, max(at.UnixMilli(), 0)))
}

// ScheduledLimitedKey is ScheduledKey for a run that needs a slot in its group when its
// moment has come, and takes none before.
func ScheduledLimitedKey(until time.Time) ClaimKey { return ScheduledKey(until) + nameEnd }

// QueuedKey marks a run that waits for its job; seq keeps the order of fires.
func QueuedKey(jobID string, seq int64) ClaimKey {
	return ClaimKey(fmt.Sprintf("%s%s:%012x", claimQueued, jobID, seq))
}

// QueuedRange bounds the keys of the runs that wait for one job: lo ≤ key < hi.
func QueuedRange(jobID string) (lo, hi ClaimKey) {
	return ClaimKey(claimQueued + jobID + ":"), ClaimKey(claimQueued + jobID + ";")
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

// ApprovalSpan is what waits for people to approve it.
func ApprovalSpan() ClaimSpan { return span(claimApproval) }

// ApprovalKey marks an approval, which its time-out decides at that moment. No node takes it.
func ApprovalKey(until time.Time) ClaimKey { return momentKey(claimApproval, until) }

// ApprovalUntil is the moment at which an approval is decided by its time-out.
func (k ClaimKey) ApprovalUntil() (time.Time, bool) {
	if !ApprovalSpan().Of(k) {
		return time.Time{}, false
	}
	return moment(k[1:])
}

// RunningKey marks a run held by a node.
func RunningKey(nodeID string) ClaimKey { return ClaimKey(claimRunning + nodeID) }

// noDeadline is the moment of a detached run without one, behind all others.
const noDeadline = claimDetached + "ffffffffffff"

// DetachedKey marks a run that runs without a node and without a slot, because
// somebody else reports its end. It is over at the deadline; zero is none.
func DetachedKey(deadline time.Time) ClaimKey {
	if deadline.IsZero() {
		return noDeadline
	}
	return momentKey(claimDetached, deadline)
}

// Detached reports whether the run runs without a node.
func (k ClaimKey) Detached() bool { return DetachedSpan().Of(k) }

// DetachedUntil is the deadline of a detached run; false when it has none, or
// is not detached.
func (k ClaimKey) DetachedUntil() (time.Time, bool) {
	if !k.Detached() || k == noDeadline {
		return time.Time{}, false
	}
	return moment(k[1:])
}

// Ready reports whether the run may start now, on some node.
func (k ClaimKey) Ready() bool { return ReadySpan().Of(k) && k.Queue() != "" }

// Queued reports whether the run waits for its job.
func (k ClaimKey) Queued() bool { return QueuedSpan().Of(k) }

// ScheduledLimited reports whether the run needs a slot in its group at its moment.
func (k ClaimKey) ScheduledLimited() bool {
	return ScheduledSpan().Of(k) && strings.HasSuffix(string(k), nameEnd)
}

// Grouped reports whether the run waits for a slot in its group.
func (k ClaimKey) Grouped() bool { return GroupedSpan().Of(k) }

// Wait is what a run waits for.
type Wait string

// The reasons why runs wait: a slot of their group or job, a moment, or a free slot of their
// queue. NODE, COMMAND and HANDLER mean that no node has the labels, runs commands or has
// the handler. WORKER means that no worker of the group is up that has the labels; of a job for workers HANDLER means
// that none offers it. APPROVAL means that people have to decide.
const (
	WaitNone     Wait = ""
	WaitGroup    Wait = "GROUP"
	WaitJob      Wait = "JOB"
	WaitTime     Wait = "TIME"
	WaitNode     Wait = "NODE"
	WaitCommand  Wait = "COMMAND"
	WaitHandler  Wait = "HANDLER"
	WaitWorker   Wait = "WORKER"
	WaitSlot     Wait = "SLOT"
	WaitApproval Wait = "APPROVAL"
)

// Waits lists what runs wait for.
func Waits() []Wait {
	return []Wait{WaitSlot, WaitNode, WaitCommand, WaitHandler, WaitWorker, WaitTime, WaitJob, WaitGroup, WaitApproval}
}

// WaitsFor is what the run waits for; WaitNone when it does not wait.
func (k ClaimKey) WaitsFor() Wait {
	for _, w := range Waits() {
		for _, s := range w.Spans() {
			if s.Of(k) {
				return w
			}
		}
	}
	return WaitNone
}

// Spans are the parts of the claim index that hold what waits for that.
func (w Wait) Spans() []ClaimSpan {
	switch w {
	case WaitSlot:
		return []ClaimSpan{ReadySpan()}
	case WaitNode:
		u, c, h := UnroutableSpan(), unroutableFor(markCommand), unroutableFor(markHandler)
		w := unroutableFor(markWorkers)
		return []ClaimSpan{{u.Lo, c.Lo}, {c.Hi, h.Lo}, {h.Hi, w.Lo}, {w.Hi, u.Hi}}
	case WaitCommand:
		return []ClaimSpan{unroutableFor(markCommand)}
	case WaitHandler:
		return []ClaimSpan{unroutableFor(markHandler)}
	case WaitWorker:
		return []ClaimSpan{unroutableFor(markWorkers)}
	case WaitTime:
		return []ClaimSpan{ScheduledSpan()}
	case WaitJob:
		return []ClaimSpan{QueuedSpan()}
	case WaitGroup:
		return []ClaimSpan{GroupedSpan()}
	case WaitApproval:
		return []ClaimSpan{ApprovalSpan()}
	}
	return nil
}

// WaitsOn is the node, or the worker, in whose queue the run waits; empty for others.
func (k ClaimKey) WaitsOn() string {
	id, _ := k.Queue().Node()
	return id
}

// Queue is where the run waits that may start now; empty when it may not.
func (k ClaimKey) Queue() Queue {
	at := len(k) - sortKeyLen
	if at < 2 || !QueueSpan().Of(k) {
		return ""
	}
	return Queue(k[:at])
}

// SortKey is the order of the run among those of all queues, that of its group
// included: priority, then fair time. It is empty for runs that are in none.
func (k ClaimKey) SortKey() string {
	if k.Queue() == "" && !k.Grouped() {
		return ""
	}
	return string(k[len(k)-sortKeyLen:])
}

// In is the key of the same position in another queue.
func (k ClaimKey) In(q Queue) ClaimKey { return ClaimKey(q) + ClaimKey(k.SortKey()) }

// FairTime is the fair time of a run that is in a queue.
func (k ClaimKey) FairTime() (time.Time, bool) {
	if k.Queue() == "" {
		return time.Time{}, false
	}
	return moment(k[len(k)-sortKeyLen+1:])
}

// BehindPriority is behind all keys of the same queue and priority; empty for a key that is
// in no queue.
func (k ClaimKey) BehindPriority() ClaimKey {
	if k.Queue() == "" {
		return ""
	}
	return k[:len(k)-sortKeyLen+1] + claimEnd
}

// ScheduledUntil is the moment a scheduled run waits for.
func (k ClaimKey) ScheduledUntil() (time.Time, bool) {
	if !ScheduledSpan().Of(k) {
		return time.Time{}, false
	}
	return moment(ClaimKey(strings.TrimSuffix(string(k[1:]), nameEnd)))
}

// Until is the moment that ends the wait of a scheduled run, or the time of a detached one.
func (k ClaimKey) Until() (time.Time, bool) {
	if until, ok := k.ScheduledUntil(); ok {
		return until, true
	}
	return k.DetachedUntil()
}

// SteadyWait is a span that counts from a transaction on: a back-off, or the time that a detached run has.
type SteadyWait struct {
	Execution string
	// Claim is the key of the execution while it waits.
	Claim ClaimKey
	// Due is the end of the span, in monotonic time of this process.
	Due time.Duration
}

func moment(hex ClaimKey) (time.Time, bool) {
	ms, err := strconv.ParseInt(string(hex), 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}
