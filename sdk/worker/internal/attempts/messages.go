// Package attempts is the worker's half of what a worker and a gateway agree on: which runs of an answer
// begin, what a poll lists, until when the worker may work, and what becomes of ends. It reads no clock and
// makes no call: the moments are handed in. The gateway's half is domain/service/delivery; a model drives
// both through every order of messages (docs/workers/delivery.md).
package attempts

import "time"

// Instant is a reading of the machine's monotonic clock. Where the clock stands still while the machine
// sleeps, Life.Slept brings what it says up to date.
type Instant time.Duration

// Attempt names one start of an execution.
type Attempt struct {
	Execution string
	Token     int64
}

// Kind is the kind of slot that a run takes.
type Kind uint8

// The kinds of slots.
const (
	General Kind = iota
	Command
	kinds
)

// Slots counts slots of each kind.
type Slots [kinds]int

// Run is an attempt and the kind of slot that it takes.
type Run struct {
	Attempt
	Kind Kind
}

// Entry is what a registration got. The worker makes a new life of it, with the moment at which it sent the
// call that was answered.
type Entry struct {
	Epoch int64
	Lease time.Duration
	Slots Slots
}

// Poll is the worker's call for work. It lists all that the worker holds at the moment of the call.
type Poll struct {
	Epoch, Seq int64
	// Ack is the seq of the newest answer that was taken.
	Ack      int64
	Free     Slots
	Running  []Attempt
	Stopping bool
}

// Stop asks for the end of an attempt. The reason "lost" says that its end counts nowhere.
type Stop struct {
	Attempt
	Reason string
}

// Answer is what a poll got. LeaseSeq names the newest poll whose beat is stored, and Lease what was stored
// with it. With Hold the store is away for all, and the lease counts from this very poll.
type Answer struct {
	Seq, LeaseSeq int64
	Lease         time.Duration
	Runs          []Run
	Cancel        []Stop
	Hold          bool
}

// Work is what the worker does after an answer.
type Work struct {
	Begin []Run
	Stop  []Stop
}

// Returned is the status of an attempt that did not begin: it uses no attempt of the run.
const Returned = "RETURNED"

// End is the end of an attempt, which waits for its receipt.
type End struct {
	Attempt
	Status string
}

// Receipt is what the end of an attempt got: ACCEPTED, DUPLICATE, STALE or RETRY.
type Receipt struct {
	Attempt
	Kind string
}

// Retry is the receipt of an end that is to be sent again. After any other one the worker drops it.
const Retry = "RETRY"
