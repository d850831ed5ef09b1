// Package runidentity derives what a run tells about itself to the program that does its
// work. Headers, variables, placeholders and handlers of the SDK all show these values.
package runidentity

import (
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Identity is what one attempt tells about itself. It holds no secret but what the user
// put into Params and Checkpoint.
type Identity struct {
	ExecutionID, JobID, JobName, Group, Owner string
	// ScheduledTime is in UTC.
	ScheduledTime time.Time
	Attempt       int
	// ShardIndex counts from 0. ShardTotal is 1 for a run without shards.
	ShardIndex, ShardTotal int
	FencingToken           int64
	IdempotencyKey         string
	// Deadline is in UTC; it is zero for a run without a limit.
	Deadline           time.Time
	Params, Checkpoint string
	TraceParent        string
}

// Of derives the identity of a run.
func Of(run entity.Run) Identity {
	x, job := run.Execution, run.Job
	return Identity{
		ExecutionID: x.ID, JobID: job.ID, JobName: job.Name, Group: job.Group, Owner: job.Owner,
		ScheduledTime: x.ScheduledTime.UTC(), Attempt: x.Attempt,
		ShardIndex: x.ShardIndex, ShardTotal: max(x.ShardTotal, 1),
		FencingToken: x.FencingToken(), IdempotencyKey: x.IdempotencyKey(),
		Deadline: run.Deadline.UTC(), Params: job.WithDefaults(x.Params), Checkpoint: x.Checkpoint,
		TraceParent: x.TraceParent(),
	}
}

// Name names one value of an identity, in the spelling of the API.
type Name string

// The names of the values.
const (
	ExecutionID    Name = "executionId"
	JobID          Name = "jobId"
	JobName        Name = "jobName"
	Group          Name = "group"
	Owner          Name = "owner"
	ScheduledTime  Name = "scheduledTime"
	Attempt        Name = "attempt"
	ShardIndex     Name = "shardIndex"
	ShardTotal     Name = "shardTotal"
	FencingToken   Name = "fencingToken"
	IdempotencyKey Name = "idempotencyKey"
	Deadline       Name = "deadline"
	Params         Name = "params"
	Checkpoint     Name = "checkpoint"
	TraceParent    Name = "traceparent"
)

// Text returns one value as a string, and "" for an unknown name. Times are in
// clock.Layout; the deadline of a run without a limit is empty.
func (i Identity) Text(n Name) string {
	switch n {
	case ExecutionID:
		return i.ExecutionID
	case JobID:
		return i.JobID
	case JobName:
		return i.JobName
	case Group:
		return i.Group
	case Owner:
		return i.Owner
	case ScheduledTime:
		return clock.Text(i.ScheduledTime)
	case Attempt:
		return strconv.Itoa(i.Attempt)
	case ShardIndex:
		return strconv.Itoa(i.ShardIndex)
	case ShardTotal:
		return strconv.Itoa(i.ShardTotal)
	case FencingToken:
		return strconv.FormatInt(i.FencingToken, 10)
	case IdempotencyKey:
		return i.IdempotencyKey
	case Deadline:
		if i.Deadline.IsZero() {
			return ""
		}
		return clock.Text(i.Deadline)
	case Params:
		return i.Params
	case Checkpoint:
		return i.Checkpoint
	case TraceParent:
		return i.TraceParent
	}
	return ""
}
