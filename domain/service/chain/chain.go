// Package chain decides which jobs the end of a fire starts, and with which values (docs/chains.md). It asks nobody,
// and the same fire always gives the same answer.
package chain

import (
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// End is a fire of which every execution is final.
type End struct {
	// Job is the definition under which the fire was recorded.
	Job *entity.Job
	// First is its first execution by shard. Outcome is that of all, Ended the moment at which the last one ended.
	First   *entity.Execution
	Outcome entity.Status
	Ended   time.Time
}

// EndOf is the end of the fire that these executions are, all of it; false while one of them is not final.
func EndOf(job *entity.Job, execs []*entity.Execution) (end End, over bool) {
	states := make([]entity.Status, len(execs))
	for i, e := range execs {
		if !e.Status.Final() {
			return End{}, false
		}
		states[i] = e.Status
		if end.First == nil || e.ShardIndex < end.First.ShardIndex {
			end.First = e
		}
		if e.EndTime.After(end.Ended) {
			end.Ended = e.EndTime
		}
	}
	end.Job, end.Outcome = job, entity.Fold(states)
	return end, end.First != nil
}

// Start is a fire that an end asks for.
type Start struct {
	JobID string
	Fire  entity.Fire
	// Invalid says why the fire cannot run; it is recorded as failed.
	Invalid string
	// Skipped is the reason why the fire is recorded and does not run; empty for one that runs.
	Skipped entity.Reason
}

// Starts are what the end of a fire starts, in the order of the definition.
func Starts(end End) []Start {
	var out []Start
	depth, _, _ := identity.OfNextKey(end.First.FireKey)
	for i := range end.Job.Next {
		next := &end.Job.Next[i]
		started := slices.ContainsFunc(out, func(s Start) bool { return s.JobID == next.Job })
		if started || !next.On.Matches(end.Outcome) {
			continue // an end starts a job once
		}
		s := Start{JobID: next.Job, Fire: fireOf(end, depth+1)}
		if depth >= entity.MaxChainDepth {
			s.Invalid = fmt.Sprintf("the chain is more than %d jobs deep: its jobs start one another in a circle, so take a "+
				"next away", entity.MaxChainDepth)
		} else if params, err := values(next, end); err != nil {
			s.Invalid = fmt.Sprintf("next of the job %s: %s", end.Job.Name, err)
		} else {
			s.Fire.Params = params
		}
		out = append(out, s)
	}
	return out
}

// ID is the id of the first execution that the end of a fire gives a job that follows it.
func ID(end End, jobID string) string {
	depth, _, _ := identity.OfNextKey(end.First.FireKey)
	return fireOf(end, depth+1).FirstID(jobID)
}

func fireOf(end End, depth int) entity.Fire {
	key := identity.NextKey(depth, end.First.ID, end.First.JobID, end.First.FireKey, end.Ended)
	return entity.NextFire(key, end.First.ScheduledTime, end.Ended, "")
}

// MayOwe reports whether the end of an execution of a job may start others: an execution of several shards tells
// nothing of the outcome of its fire.
func MayOwe(job *entity.Job, e *entity.Execution) bool {
	if len(job.Next) == 0 || e.IsRange() {
		return false
	}
	if e.ShardTotal > 1 {
		return true
	}
	for i := range job.Next {
		if job.Next[i].On.Matches(e.Status) {
			return true
		}
	}
	return false
}

// OwesNothing reports whether the definition by which a run has ended shows that no job follows it. A node that fires
// more jobs than it keeps has dropped that definition from memory meanwhile; the run still holds it.
func OwesNothing(job *entity.Job, e *entity.Execution) bool {
	return job != nil && e.JobVersion != 0 && job.Version == e.JobVersion && !MayOwe(job, e)
}
