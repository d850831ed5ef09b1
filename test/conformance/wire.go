package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Registration is what a worker says of itself. These types are written from docs/workers/protocol.md alone.
type Registration struct {
	Protocol     int
	Group        string
	Instance     string
	BootID       string
	Slots        *int
	CommandSlots int
	Handlers     []string
}

// Poll is a worker's call for work.
type Poll struct {
	Epoch int64
	Seq   int64
	Ack   int64
	Free  int
	// FreeCommands are the free slots for commands.
	FreeCommands int
	Running      []string
	Stopping     bool
	WaitMs       *int64
}

// Declaration is what a worker says of the jobs that are to be there.
type Declaration struct {
	Epoch int64
	Jobs  []map[string]any
}

// Report is what a worker says of its attempts.
type Report struct {
	Epoch int64
	Items []Item
}

// Item is what a report says of one attempt.
type Item struct {
	ExecutionID string
	Token       int64
	Attempt     int
	LineFrom    int64
	Lines       []string
	Progress    *int
	Checkpoint  *string
	End         *End
}

// Name is the attempt, as polls list it.
func (i Item) Name() string { return fmt.Sprintf("%s:%d", i.ExecutionID, i.Token) }

// End is the end of an attempt.
type End struct {
	Status       string
	Result       string
	Message      string
	Reason       string
	ExitCode     *int
	NoRetry      bool
	RetryAfterMs int64
	DurationMs   *int64
	AgoMs        *int64
}

// Call is one call of the worker, with all that came of it.
type Call struct {
	// Kind is register, poll, report, jobs or leave. N counts those of a kind from 1.
	Kind string
	N    int
	// Server is which address was called.
	Server int
	At     time.Time
	Header http.Header
	Raw    json.RawMessage

	Registration Registration
	Poll         Poll
	Report       Report
	Declaration  Declaration

	// Status is what it was answered with; 0 while it is under way, or where it got no answer. Done says that it is not
	// under way any more, and Cut that the worker did not wait for the answer.
	Status int
	Done   bool
	Cut    bool
	Answer map[string]any
}

// Fault is what goes wrong with a call. The zero value of a field is nothing.
type Fault struct {
	// Status answers so, with Code, and does nothing else.
	Status int
	Code   string
	Header map[string]string
	// Drop closes the connection before the call is looked at, Lose afterwards: the answer is lost.
	Drop, Lose bool
	// Wait holds the answer back until it is closed.
	Wait <-chan struct{}
}

// Run is a run of the store behind the gateway.
type Run struct {
	ID      string
	Handler string
	// Kind is HANDLER, which is the default, HTTP or COMMAND.
	Kind string
	// Data, Params and more are laid into the delivery.
	Data, Params map[string]any
	Checkpoint   string
	Attempt      int
	TimeoutMs    int64

	Token int64
	// State is waiting, running, or the status of its end.
	State string
	// Cancel is why it is to stop; empty: it is not.
	Cancel string
	// Receipt is what its end gets; empty: what an honest store says.
	Receipt    string
	Items      []Item
	Ends       int
	Lines      []string
	Progress   int
	Kept       string
	Delivered  int
	Deliveries []int64
	// told: an answer at once has said that it is to stop; others say it again.
	told bool
}

// Name is the attempt, as polls list it.
func (r *Run) Name() string { return fmt.Sprintf("%s:%d", r.ID, r.Token) }

// Ended is the item with the newest end; nil without one.
func (r *Run) Ended() *End {
	for i := len(r.Items) - 1; i >= 0; i-- {
		if r.Items[i].End != nil {
			return r.Items[i].End
		}
	}
	return nil
}

// Delivery is the run as a worker gets it.
func (r *Run) Delivery() map[string]any {
	out := map[string]any{
		"executionId": r.ID, "token": r.Token, "attempt": max(r.Attempt, 1), "kind": cmp.Or(r.Kind, "HANDLER"), "handler": r.Handler,
		"jobId": "job-" + r.ID, "jobName": "job of " + r.ID, "group": "default", "owner": "somebody",
		"scheduledTime": "2026-11-28T10:00:00Z", "shardIndex": 0, "shardTotal": 1,
		// The ledger of the worker names attempts by what handlers know.
		"fencingToken": r.Token, "idempotencyKey": "key-" + r.ID, "data": r.Data, "timeoutMs": r.TimeoutMs,
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	if r.Params != nil {
		out["params"] = r.Params
	}
	if r.Checkpoint != "" {
		out["checkpoint"] = r.Checkpoint
	}
	return out
}
