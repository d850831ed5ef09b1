package vo

import (
	"encoding/json"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
)

// WorkerRegistered is what a worker gets that has registered.
type WorkerRegistered struct {
	// WorkerID and Epoch are for all other calls.
	WorkerID string `json:"workerId"`
	Epoch    int64  `json:"epoch"`
	Protocol int    `json:"protocol"`
	// BeatMs is how often it calls at least. Its lease of LeaseMs counts from when this call was sent. A poll waits WaitMs
	// at most.
	BeatMs  int64 `json:"beatMs"`
	LeaseMs int64 `json:"leaseMs"`
	WaitMs  int64 `json:"waitMs"`
	// MaxRuns is the most runs of an answer, MaxItems the most items of a report.
	MaxRuns  int `json:"maxRuns"`
	MaxItems int `json:"maxItems"`
}

// FromRegistered makes the view of a life that has begun.
func FromRegistered(w entityworker.Worker, protocol int) WorkerRegistered {
	return WorkerRegistered{
		WorkerID: w.ID, Epoch: w.Epoch, Protocol: protocol, BeatMs: w.Beat.Milliseconds(), LeaseMs: w.Lease.Milliseconds(),
		WaitMs: w.Beat.Milliseconds(), MaxRuns: delivery.MaxRuns, MaxItems: delivery.MaxItems,
	}
}

// WorkerAnswer is what a poll gets.
type WorkerAnswer struct {
	Seq int64 `json:"seq"`
	// LeaseSeq is the newest poll whose beat is stored: the lease ends LeaseMs after that one was sent. 0 renews nothing.
	LeaseSeq int64 `json:"leaseSeq"`
	LeaseMs  int64 `json:"leaseMs"`
	// Runs are to begin.
	Runs []WorkerRun `json:"runs"`
	// Cancel are to stop.
	Cancel []WorkerStop `json:"cancel"`
	// Drain: an operator lets this worker run out.
	Drain bool `json:"drain"`
	// Hold: the store is away for all nodes; the lease counts from this poll.
	Hold   bool  `json:"hold"`
	BeatMs int64 `json:"beatMs"`
	WaitMs int64 `json:"waitMs"`
	// RetryAfterMs is how long to wait before the next call, which is for another node; 0 is not at all.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
}

// WorkerStop names an attempt that is to stop.
type WorkerStop struct {
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token"`
	Reason      string `json:"reason" enums:"cancel,replaced,timeout,lost"`
}

// WorkerRun is a run for a worker.
type WorkerRun struct {
	// ExecutionID, Token and Attempt name it in reports.
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token"`
	Attempt     int    `json:"attempt"`
	Kind        string `json:"kind" enums:"HANDLER,COMMAND,HTTP"`
	Handler     string `json:"handler"`
	JobID       string `json:"jobId"`
	JobName     string `json:"jobName"`
	// Group is the group of the job.
	Group         string `json:"group"`
	Owner         string `json:"owner"`
	ScheduledTime Time   `json:"scheduledTime" format:"date-time"`
	ShardIndex    int    `json:"shardIndex"`
	ShardTotal    int    `json:"shardTotal"`
	// FencingToken and IdempotencyKey are for what the handler calls.
	FencingToken   int64  `json:"fencingToken"`
	IdempotencyKey string `json:"idempotencyKey"`
	// Data and Params have their placeholders filled.
	Data   json.RawMessage `json:"data" swaggertype:"object"`
	Params json.RawMessage `json:"params" swaggertype:"object"`
	// Secrets are values by name.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Checkpoint is what the attempt before kept.
	Checkpoint string `json:"checkpoint"`
	// TimeoutMs is what is left of its time; 0 is no limit.
	TimeoutMs   int64  `json:"timeoutMs"`
	TraceParent string `json:"traceparent,omitempty"`
}

// FromPollAnswer makes the view of the answer to a poll.
func FromPollAnswer(a gateway.Answer, beat time.Duration) WorkerAnswer {
	return WorkerAnswer{
		Seq: a.Seq, LeaseSeq: a.LeaseSeq, LeaseMs: a.Lease.Milliseconds(), Runs: convert.All(a.Deliveries, workerRun),
		Cancel: convert.All(a.Cancel, fromStop), Drain: a.Drain, Hold: a.Hold,
		BeatMs: beat.Milliseconds(), WaitMs: beat.Milliseconds(), RetryAfterMs: a.RetryAfter.Milliseconds(),
	}
}

// DeliveryBytes is how long a run is in an answer.
func DeliveryBytes(d gateway.Delivery) int {
	text, err := json.Marshal(workerRun(d))
	if err != nil {
		return 0 // the answer says so
	}
	return len(text) + 1
}

func fromStop(s delivery.Stop) WorkerStop {
	return WorkerStop{ExecutionID: s.Execution, Token: s.Token, Reason: string(s.Reason)}
}

func workerRun(d gateway.Delivery) WorkerRun {
	id := runidentity.Of(d.Run)
	v := WorkerRun{
		ExecutionID: id.ExecutionID, Token: d.Run.Execution.Token, Attempt: id.Attempt, Kind: "HANDLER",
		Handler: d.Run.Job.Class, JobID: id.JobID, JobName: id.JobName, Group: id.Group, Owner: id.Owner,
		ScheduledTime: Time(id.ScheduledTime), ShardIndex: id.ShardIndex, ShardTotal: id.ShardTotal,
		FencingToken: id.FencingToken, IdempotencyKey: id.IdempotencyKey, Data: object(d.Data), Params: object(id.Params),
		Secrets: d.Run.Secrets, Checkpoint: id.Checkpoint, TimeoutMs: d.Timeout.Milliseconds(), TraceParent: id.TraceParent,
	}
	if d.Run.Job.Type != entity.JobCustom {
		v.Kind, v.Handler = string(d.Run.Job.Type), ""
	}
	return v
}

// object is a JSON object as it is stored; an empty one where there is none.
func object(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// WorkerReceipts is what a report gets.
type WorkerReceipts struct {
	// Items are in the order of the report.
	Items []WorkerReceipt `json:"items"`
}

// WorkerReceipt is what an item of a report gets.
type WorkerReceipt struct {
	ExecutionID string `json:"executionId"`
	Token       int64  `json:"token"`
	// Receipt is that of an end. ACCEPTED, DUPLICATE and STALE free the slot; RETRY: send it again.
	Receipt string `json:"receipt,omitempty" enums:"ACCEPTED,DUPLICATE,STALE,RETRY"`
	// Line is the number of the newest line that the server has.
	Line int64 `json:"line"`
}

// FromReceipts makes the view of receipts.
func FromReceipts(receipts []gateway.Receipt) WorkerReceipts {
	return WorkerReceipts{Items: convert.All(receipts, func(r gateway.Receipt) WorkerReceipt {
		return WorkerReceipt{ExecutionID: r.Execution, Token: r.Token, Receipt: string(r.Receipt), Line: r.Line}
	})}
}
