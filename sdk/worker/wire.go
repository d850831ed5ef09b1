package worker

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// protocol is the version of docs/workers/protocol.md that is spoken here.
const protocol = 1

const sdkName = "go"

type registerCall struct {
	Protocol     int               `json:"protocol"`
	Group        string            `json:"group"`
	Instance     string            `json:"instance"`
	BootID       string            `json:"bootId"`
	Slots        int               `json:"slots"`
	CommandSlots int               `json:"commandSlots"`
	Handlers     []string          `json:"handlers"`
	Labels       map[string]string `json:"labels,omitempty"`
	Weight       int               `json:"weight"`
	SDK          string            `json:"sdk"`
	Runtime      string            `json:"runtime"`
	Version      string            `json:"version,omitempty"`
	Host         string            `json:"host,omitempty"`
	PID          int               `json:"pid"`
}

type registered struct {
	WorkerID string `json:"workerId"`
	Epoch    int64  `json:"epoch"`
	BeatMs   int64  `json:"beatMs"`
	LeaseMs  int64  `json:"leaseMs"`
	WaitMs   int64  `json:"waitMs"`
	MaxItems int    `json:"maxItems"`
}

type pollCall struct {
	Epoch        int64    `json:"epoch"`
	Seq          int64    `json:"seq"`
	Ack          int64    `json:"ack"`
	Free         int      `json:"free"`
	FreeCommands int      `json:"freeCommands"`
	Running      []string `json:"running"`
	Stopping     bool     `json:"stopping"`
	WaitMs       int64    `json:"waitMs"`
}

type pollAnswer struct {
	Seq          int64     `json:"seq"`
	LeaseSeq     int64     `json:"leaseSeq"`
	LeaseMs      int64     `json:"leaseMs"`
	Runs         []runData `json:"runs"`
	Cancel       []stop    `json:"cancel"`
	Drain        bool      `json:"drain"`
	Hold         bool      `json:"hold"`
	BeatMs       int64     `json:"beatMs"`
	WaitMs       int64     `json:"waitMs"`
	RetryAfterMs int64     `json:"retryAfterMs"`
}

type stop struct {
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token"`
	Reason      string `json:"reason"`
}

type runData struct {
	ExecutionID    string          `json:"executionId"`
	Token          int64           `json:"token"`
	Attempt        int             `json:"attempt"`
	Kind           string          `json:"kind"`
	Handler        string          `json:"handler"`
	JobID          string          `json:"jobId"`
	JobName        string          `json:"jobName"`
	Group          string          `json:"group"`
	Owner          string          `json:"owner"`
	ScheduledTime  time.Time       `json:"scheduledTime"`
	ShardIndex     int             `json:"shardIndex"`
	ShardTotal     int             `json:"shardTotal"`
	FencingToken   int64           `json:"fencingToken"`
	IdempotencyKey string          `json:"idempotencyKey"`
	Data           json.RawMessage `json:"data"`
	Params         json.RawMessage `json:"params"`
	Checkpoint     string          `json:"checkpoint"`
	TimeoutMs      int64           `json:"timeoutMs"`
	TraceParent    string          `json:"traceparent"`
}

// The kinds of runs that are no handlers.
const (
	kindCommand = "COMMAND"
	kindHTTP    = "HTTP"
)

func (r runData) run() attempts.Run {
	kind := attempts.General
	if r.Kind == kindCommand {
		kind = attempts.Command
	}
	return attempts.Run{Attempt: attempts.Attempt{Execution: r.ExecutionID, Token: r.Token}, Kind: kind}
}

// answer is what the rules of delivery need of it.
func (a pollAnswer) answer() attempts.Answer {
	out := attempts.Answer{Seq: a.Seq, LeaseSeq: a.LeaseSeq, Lease: millis(a.LeaseMs), Hold: a.Hold}
	for _, r := range a.Runs {
		out.Runs = append(out.Runs, r.run())
	}
	for _, s := range a.Cancel {
		out.Cancel = append(out.Cancel, attempts.Stop{
			Attempt: attempts.Attempt{Execution: s.ExecutionID, Token: s.Token}, Reason: s.Reason,
		})
	}
	return out
}

type reportCall struct {
	Epoch int64             `json:"epoch"`
	Items []json.RawMessage `json:"items"`
}

type reportItem struct {
	ExecutionID string   `json:"executionId"`
	Token       int64    `json:"token"`
	Attempt     int      `json:"attempt"`
	LineFrom    int64    `json:"lineFrom,omitempty"`
	Lines       []string `json:"lines,omitempty"`
	Progress    *int     `json:"progress,omitempty"`
	Checkpoint  *string  `json:"checkpoint,omitempty"`
	End         *end     `json:"end,omitempty"`
}

type end struct {
	Status       string `json:"status"`
	Result       string `json:"result,omitempty"`
	Message      string `json:"message,omitempty"`
	Reason       string `json:"reason,omitempty"`
	ExitCode     *int   `json:"exitCode,omitempty"`
	NoRetry      bool   `json:"noRetry,omitempty"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty"`
	AskedMs      int64  `json:"askedMs,omitempty"`
	CPUMs        int64  `json:"cpuMs,omitempty"`
	PeakKb       int64  `json:"peakKb,omitempty"`
	DurationMs   int64  `json:"durationMs"`
	AgoMs        int64  `json:"agoMs"`
}

type reportAnswer struct {
	Items []receipt `json:"items"`
}

type receipt struct {
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token"`
	Receipt     string `json:"receipt"`
	Line        int64  `json:"line"`
}

const (
	accepted  = "ACCEPTED"
	duplicate = "DUPLICATE"
	stale     = "STALE"
)

type leaveCall struct {
	Epoch int64 `json:"epoch"`
}

// problem is an answer that is no success.
type problem struct {
	status     int
	server     string
	retryAfter time.Duration
	Code       string `json:"code"`
	Detail     string `json:"detail"`
	Errors     []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Error implements error.
func (p *problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s answered %d", p.server, p.status)
	if p.Code != "" {
		fmt.Fprintf(&b, " (%.100s)", p.Code)
	}
	if p.Detail != "" {
		fmt.Fprintf(&b, ": %.500s", p.Detail)
	}
	for _, e := range p.Errors[:min(len(p.Errors), 5)] {
		fmt.Fprintf(&b, "; %.100s: %.300s", e.Field, e.Message)
	}
	return b.String()
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
