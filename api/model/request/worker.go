package request

import (
	"fmt"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// The bounds of what workers send.
const (
	// MaxWait is the longest that a poll waits, in milliseconds: proxies cut calls that are much longer.
	MaxWait = 20_000
	// maxExact is the greatest number that every JSON reader reads exactly.
	maxExact = 1<<53 - 1
	// maxHeld is how many runs a worker has at most: all slots of both kinds.
	maxHeld = 2 * entityworker.MaxSlots
	// maxLines is how many lines one item of a report holds.
	maxLines = 10_000
	// returnWait is when a run that did not begin is tried again.
	returnWait = time.Second
)

// readOpenBody is readBody for workers: fields that this release does not know are passed over.
func readOpenBody[T any](r *http.Request, check func(body *T, f *faults)) (body T, err error) {
	o, err := parse(r, false)
	if err != nil {
		return body, err
	}
	f := &faults{}
	b := newBinder(o, f)
	b.open = true
	body = bind[T](b)
	check(&body, f)
	return body, apperror.Invalid(f.list)
}

// within refuses a number out of a range, unless it is known to be wrong.
func (f *faults) within(field string, value, least, most int64) {
	if (value < least || value > most) && !f.has(field) {
		f.add(field, "out_of_range", "must be from %d to %d", least, most)
	}
}

// WorkerRegistration is the body of POST /workers.
type WorkerRegistration struct {
	// Protocol is 1.
	Protocol int64 `json:"protocol" minimum:"1" maximum:"1"`
	// Group is the worker group of the token.
	Group string `json:"group"`
	// Instance names the process, the same over its restarts.
	Instance string `json:"instance" maxLength:"100"`
	// BootID is drawn anew when the process starts, and after a lease that was over.
	BootID string `json:"bootId" maxLength:"64"`
	// Slots are for runs that are no commands, CommandSlots for commands.
	Slots        int64 `json:"slots,omitempty" default:"8" minimum:"0" maximum:"1000"`
	CommandSlots int64 `json:"commandSlots,omitempty" minimum:"0" maximum:"1000"`
	// Handlers are names, together at most 64 KiB.
	Handlers []string          `json:"handlers,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Weight   int64             `json:"weight,omitempty" default:"1" minimum:"1" maximum:"1000"`
	SDK      string            `json:"sdk,omitempty" maxLength:"100"`
	Runtime  string            `json:"runtime,omitempty" maxLength:"100"`
	Version  string            `json:"version,omitempty" maxLength:"100"`
	Host     string            `json:"host,omitempty" maxLength:"100"`
	PID      int64             `json:"pid,omitempty" minimum:"0"`
}

// ReadWorkerRegistration reads it. The service, which knows the worker group, judges it whole, with what is wrong with
// the types of its fields.
func ReadWorkerRegistration(r *http.Request) (worker.Registration, error) {
	body, err := readOpenBody(r, func(*WorkerRegistration, *faults) {})
	n := worker.Registration{
		Protocol: body.Protocol, Group: body.Group, Instance: body.Instance, Boot: body.BootID, Slots: body.Slots,
		CommandSlots: body.CommandSlots, Handlers: body.Handlers, Labels: body.Labels, Weight: body.Weight, SDK: body.SDK,
		Runtime: body.Runtime, Version: body.Version, Host: body.Host, PID: body.PID, Wrong: apperror.InvalidFields(err),
	}
	if n.Wrong != nil {
		err = nil
	}
	return n, err
}

// WorkerPoll is the body of POST /workers/{id}/poll.
type WorkerPoll struct {
	Epoch int64 `json:"epoch" minimum:"1"`
	// Seq counts the polls of the epoch, from 1.
	Seq int64 `json:"seq" minimum:"1"`
	// Ack is the seq of the newest answer whose runs were taken.
	Ack          int64 `json:"ack,omitempty" minimum:"0"`
	Free         int64 `json:"free,omitempty" minimum:"0" maximum:"1000"`
	FreeCommands int64 `json:"freeCommands,omitempty" minimum:"0" maximum:"1000"`
	// Running are the attempts that run, or have ended without a receipt: EXECUTION:TOKEN.
	Running []string `json:"running,omitempty"`
	// Stopping: nothing new, please.
	Stopping bool `json:"stopping,omitempty"`
	// WaitMs is how long the call may be parked; absent, as long as a beat.
	WaitMs *int64 `json:"waitMs,omitempty" minimum:"0" maximum:"20000"`
}

// ReadWorkerPoll reads it for a worker; otherwise is the wait of a call that names none.
func ReadWorkerPoll(r *http.Request, workerID string, otherwise time.Duration) (gateway.Call, error) {
	var running []delivery.Attempt
	body, err := readOpenBody(r, func(body *WorkerPoll, f *faults) {
		f.within("epoch", body.Epoch, 1, maxExact)
		f.within("seq", body.Seq, 1, maxExact)
		f.within("ack", body.Ack, 0, max(body.Seq-1, 0))
		f.within("free", body.Free, 0, entityworker.MaxSlots)
		f.within("freeCommands", body.FreeCommands, 0, entityworker.MaxSlots)
		f.within("waitMs", or(body.WaitMs, 0), 0, MaxWait)
		if len(body.Running) > maxHeld {
			f.add("running", "too_many", "must name at most %d runs", maxHeld)
			return
		}
		for i, text := range body.Running {
			a, ok := delivery.ParseAttempt(text)
			if !ok || a.Token > maxExact || !fitsID(a.Execution) {
				f.add(fmt.Sprintf("running[%d]", i), "invalid", "must be EXECUTION:TOKEN, as they were delivered")
			}
			running = append(running, a)
		}
	})
	return gateway.Call{
		WorkerID: workerID,
		Poll: delivery.Poll{
			Epoch: body.Epoch, Seq: body.Seq, Ack: body.Ack, Stopping: body.Stopping, Running: running,
			Free: entity.Slots{entity.SlotGeneral: int(body.Free), entity.SlotCommand: int(body.FreeCommands)},
		},
		Wait: time.Duration(or(body.WaitMs, otherwise.Milliseconds())) * time.Millisecond,
	}, err
}

// maxID is the longest id of an execution, in bytes.
const maxID = 50

// fitsID reports whether a text may be the id of an execution: others are in no store.
func fitsID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// WorkerReport is the body of POST /workers/{id}/report.
type WorkerReport struct {
	Epoch int64 `json:"epoch" minimum:"1"`
	// Items are at most 500.
	Items []WorkerItem `json:"items"`
}

// WorkerItem is what a worker says of one attempt.
type WorkerItem struct {
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token" minimum:"1"`
	Attempt     int64  `json:"attempt" minimum:"1"`
	// LineFrom is the number of the first of the lines, from 1 within the attempt.
	LineFrom int64    `json:"lineFrom,omitempty" minimum:"1"`
	Lines    []string `json:"lines,omitempty"`
	// Progress is in percent.
	Progress *int64 `json:"progress,omitempty" minimum:"0" maximum:"100"`
	// Checkpoint is what the next attempt is given.
	Checkpoint *string `json:"checkpoint,omitempty" maxLength:"65536"`
	// End says that the attempt has ended.
	End *WorkerEnd `json:"end,omitempty"`
}

// WorkerEnd is the end of an attempt.
type WorkerEnd struct {
	// Status RETURNED is an attempt that never began, RELEASED one that a shutdown has stopped.
	Status  string `json:"status" enums:"SUCCESS,FAILED,TIMEOUT,CANCELLED,RETURNED,RELEASED"`
	Result  string `json:"result,omitempty" maxLength:"65536"`
	Message string `json:"message,omitempty" maxLength:"4096"`
	// Reason is of a failure.
	Reason   string `json:"reason,omitempty" enums:"ERROR,PANIC,EXIT_CODE,HTTP_STATUS,BODY_MISMATCH,REDIRECTED,INVALID"`
	ExitCode *int64 `json:"exitCode,omitempty"`
	// NoRetry makes a failure final; RetryAfterMs is when it is to be tried again.
	NoRetry      bool  `json:"noRetry,omitempty"`
	RetryAfterMs int64 `json:"retryAfterMs,omitempty" minimum:"0"`
	// AskedMs is how long the target of a call asks not to be called; the retry policy bounds it.
	AskedMs int64 `json:"askedMs,omitempty" minimum:"0"`
	// CPUMs and PeakKb are what a command took.
	CPUMs  int64 `json:"cpuMs,omitempty" minimum:"0"`
	PeakKb int64 `json:"peakKb,omitempty" minimum:"0"`
	// DurationMs is how long it took, AgoMs how long ago it ended.
	DurationMs int64 `json:"durationMs,omitempty" minimum:"0"`
	AgoMs      int64 `json:"agoMs,omitempty" minimum:"0"`
}

// ReadWorkerReport reads it.
func ReadWorkerReport(r *http.Request) (epoch int64, items []gateway.Item, err error) {
	body, err := readOpenBody(r, func(body *WorkerReport, f *faults) {
		f.within("epoch", body.Epoch, 1, maxExact)
		if len(body.Items) > delivery.MaxItems {
			f.add("items", "too_many", "must be at most %d items; send the rest with the next report", delivery.MaxItems)
			return
		}
		for i := range body.Items {
			body.Items[i].check(fmt.Sprintf("items[%d].", i), f)
		}
	})
	if err != nil {
		return 0, nil, err
	}
	items = make([]gateway.Item, len(body.Items))
	for i := range body.Items {
		items[i] = body.Items[i].item()
	}
	return body.Epoch, items, nil
}

func (n *WorkerItem) check(at string, f *faults) {
	if !fitsID(n.ExecutionID) && !f.has(at+"executionId") {
		f.add(at+"executionId", "invalid", "must be that of the run, as it was delivered")
	}
	f.within(at+"token", n.Token, 1, maxExact)
	f.within(at+"attempt", n.Attempt, 1, maxExact)
	f.within(at+"lineFrom", n.LineFrom, min(int64(len(n.Lines)), 1), maxExact-maxLines)
	if len(n.Lines) > maxLines {
		f.add(at+"lines", "too_many", "must be at most %d lines; send the rest with the next report", maxLines)
	}
	f.within(at+"progress", or(n.Progress, 0), 0, 100)
	tooLong(f, at+"checkpoint", or(n.Checkpoint, ""), maxReportCheckpoint)
	if n.End != nil {
		n.End.check(at+"end.", f)
	}
}

func (n *WorkerEnd) check(at string, f *faults) {
	if _, known := ends[n.Status]; !known && !f.has(at+"status") {
		f.add(at+"status", "unknown_value", "must be SUCCESS, FAILED, TIMEOUT, CANCELLED, RETURNED or RELEASED")
	}
	switch entity.Reason(n.Reason) {
	case "", entity.ReasonError, entity.ReasonPanic, entity.ReasonExitCode, entity.ReasonHTTPStatus,
		entity.ReasonBodyMismatch, entity.ReasonRedirected, entity.ReasonInvalid:
	default:
		f.add(at+"reason", "unknown_value", "must be ERROR, PANIC, EXIT_CODE, HTTP_STATUS, BODY_MISMATCH, REDIRECTED or "+
			"INVALID, or left out")
	}
	tooLong(f, at+"result", n.Result, maxReportResult)
	tooLong(f, at+"message", n.Message, maxReportText)
	f.within(at+"exitCode", or(n.ExitCode, 0), -1<<31, 1<<31-1)
	f.within(at+"retryAfterMs", n.RetryAfterMs, 0, maxSpanMs)
	f.within(at+"askedMs", n.AskedMs, 0, maxSpanMs)
	f.within(at+"cpuMs", n.CPUMs, 0, maxExact)
	f.within(at+"peakKb", n.PeakKb, 0, maxExact)
	f.within(at+"durationMs", n.DurationMs, 0, maxSpanMs)
	f.within(at+"agoMs", n.AgoMs, 0, maxSpanMs)
}

// maxSpanMs is the longest span of time that a report names: a year.
const maxSpanMs = int64(366 * 24 * time.Hour / time.Millisecond)

// ends are the ends that a worker may report, and what they are here. A run that never began waits again, and one that
// a shutdown stopped counts nowhere.
var ends = map[string]entity.Outcome{
	"SUCCESS": {Status: entity.StatusSuccess}, "FAILED": {Status: entity.StatusFailed},
	"TIMEOUT":   {Status: entity.StatusTimeout, Reason: entity.ReasonTimeout},
	"CANCELLED": {Status: entity.StatusCancelled},
	"RETURNED":  entity.NotBegun(returnWait, ""),
	"RELEASED":  {Status: entity.StatusFailed, Reason: entity.ReasonShutdown},
}

func (n *WorkerItem) item() gateway.Item {
	item := gateway.Item{
		Attempt: delivery.Attempt{Execution: n.ExecutionID, Token: n.Token}, Number: int(n.Attempt), LineFrom: n.LineFrom,
		Lines: n.Lines, Progress: int(or(n.Progress, -1)), Checkpoint: n.Checkpoint,
	}
	if n.End != nil {
		item.End = n.End.end()
	}
	return item
}

func (n *WorkerEnd) end() *gateway.End {
	o := ends[n.Status]
	o.Message, o.Result = n.Message, n.Result
	switch {
	case o.Status == entity.StatusSuccess:
		o.Progress = 100
	case n.Status == "FAILED":
		o.Reason, o.NoRetry = entity.Reason(n.Reason), n.NoRetry
		o.RetryAfter = time.Duration(n.RetryAfterMs) * time.Millisecond
		o.Asked = time.Duration(n.AskedMs) * time.Millisecond
		if o.Reason == "" {
			o.Reason = entity.ReasonError
		}
	}
	o.Usage = entity.Usage{CPUMs: n.CPUMs, PeakKb: n.PeakKb}
	if n.ExitCode != nil {
		code := int(*n.ExitCode)
		o.ExitCode = &code
	}
	return &gateway.End{
		Outcome: o, Took: time.Duration(n.DurationMs) * time.Millisecond, Ago: time.Duration(n.AgoMs) * time.Millisecond,
	}
}

// WorkerLeave is the body of POST /workers/{id}/leave.
type WorkerLeave struct {
	Epoch int64 `json:"epoch" minimum:"1"`
}

// ReadWorkerLeave reads the epoch that ends.
func ReadWorkerLeave(r *http.Request) (epoch int64, err error) {
	body, err := readOpenBody(r, func(body *WorkerLeave, f *faults) { f.within("epoch", body.Epoch, 1, maxExact) })
	return body.Epoch, err
}
