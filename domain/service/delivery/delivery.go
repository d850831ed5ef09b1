// Package delivery is the gateway's half of what a gateway and a worker agree on: which runs an answer
// delivers, how long a worker's lease holds, who takes over its id, and what a report's end gets. It reads
// no clock and no store: times and what was read are handed in. The worker's half is sdk/worker; a model
// drives both through every order of messages (docs/workers/delivery.md).
package delivery

import (
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The bounds of one answer and of one report.
const (
	// MaxRuns is how many runs an answer delivers; the rest comes with the next one. It is also what one claim takes for
	// a worker, as many as a fire has: with 100 each run paid five times as much of a transaction and of a call.
	MaxRuns = 500
	// MaxItems is how many items a report holds.
	MaxItems = 500
)

// Attempt names one start of an execution. The number of the attempt would not do: a run that was put
// back keeps it. Each claim takes a token of its own.
type Attempt struct {
	Execution string
	Token     int64
}

// String is how messages name the attempt: <execution id>:<token>.
func (a Attempt) String() string { return a.Execution + ":" + strconv.FormatInt(a.Token, 10) }

// ParseAttempt reads what String writes; false for anything else.
func ParseAttempt(s string) (Attempt, bool) {
	at := strings.LastIndexByte(s, ':')
	if at <= 0 {
		return Attempt{}, false
	}
	token, err := strconv.ParseInt(s[at+1:], 10, 64)
	a := Attempt{Execution: s[:at], Token: token}
	return a, err == nil && token > 0 && a.String() == s
}

// Run is an attempt and the kind of slot that it takes.
type Run struct {
	Attempt
	Kind entity.SlotKind
}

// Poll is a worker's call for work: a beat, its free slots, and all that it holds. It was composed at one
// moment: what the worker took before that moment is in Running, or its end has a receipt.
type Poll struct {
	Epoch int64
	// Seq counts the polls of an epoch from 1, over all gateways.
	Seq int64
	// Ack is the seq of the newest answer that the worker took. It tells that this one was taken, and
	// nothing of others: not of those before it, nor of another gateway's answer to the same poll.
	Ack  int64
	Free entity.Slots
	// Running holds what runs and what has ended without a receipt.
	Running []Attempt
	// Stopping: the worker drains and begins nothing more.
	Stopping bool
}

// StopReason is why a worker is to stop an attempt.
type StopReason string

// The reasons to stop. Lost means that the store has given the attempt up.
const (
	StopCancel   StopReason = "cancel"
	StopReplaced StopReason = "replaced"
	StopTimeout  StopReason = "timeout"
	StopLost     StopReason = "lost"
)

// Stop asks the worker to stop an attempt.
type Stop struct {
	Attempt
	Reason StopReason
}

// Answer is what a poll gets.
type Answer struct {
	Seq int64
	// LeaseSeq is the newest poll whose beat the store has, as far as this gateway knows; 0 is the
	// registration. Lease is what was stored with that beat: a later setting says nothing about it.
	LeaseSeq int64
	Lease    time.Duration
	Runs     []Run
	Cancel   []Stop
	// Hold: the store is away for all; the lease counts from this very poll.
	Hold bool
}
