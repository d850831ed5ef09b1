// Package statistics is what ends of executions add up to: the codec of a digest, the
// histogram of durations, rows of sums by job, group and node, and the periods that
// rows belong to. It is pure: it knows no store and no clock.
package statistics

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// MaxShards bounds the shards of a fire that count as one run. A fire of more counts
// each of its shards as a run.
const MaxShards = 4096

// maxMillis bounds durations and latenesses, in milliseconds: 34 years. A longer one
// counts as this long.
const maxMillis = 1<<40 - 1

// End is what statistics and baselines know of the end of one execution. Times are in
// UTC; they and spans are whole milliseconds.
type End struct {
	// Job is the 16 bytes of the job's id.
	Job [16]byte
	// Node held the execution when it ended; empty: none did.
	Node   string
	Status entity.Status
	// Trigger is empty where this release does not know it, and so is Reason.
	Trigger entity.Trigger
	Reason  entity.Reason
	Version int
	At      time.Time
	// Started: an attempt has begun. Duration is that of the last one, else 0.
	Started  bool
	Duration time.Duration
	// Timed: Lateness says how late a fire of the schedule started. After a retry
	// nobody knows that: the start is that of the last attempt.
	Timed    bool
	Lateness time.Duration
	Retries  int
	// Fires is how many fires the end stands for: the count of a range, else 1. A
	// range whose count nobody knows has 1.
	Fires int
	// Shards is above 1 where the end is that of one of so many shards of a fire.
	// Shard is which of them, and Fire a hash of the fire's key. Else all three are 0.
	Fire   uint64
	Shard  int
	Shards int
	// Item: it is the end of one item of a map, for which the row of the map stands.
	Item bool
	// Waited: part of the duration is that of people, so that nothing is learned from it.
	Waited bool
}

// Inline reports whether it is the end of a step whose work stands in its workflow. Its workflow run is one run of the
// group and the cluster.
func (e *End) Inline() bool { return identity.IsStepBytes(e.Job) }

// Word reports whether nothing ran: a person decided the end, or a former workflow run has the result.
func (e *End) Word() bool {
	return e.Status != entity.StatusSkipped && !e.Started &&
		(e.Reason == entity.ReasonOperator || e.Reason == entity.ReasonReused)
}

// endOf reads the k-th of the executions that one transaction has ended at now; see EndOf.
func endOf(ended []*entity.Execution, k int, now time.Time) (End, bool) {
	return EndOf(ended[k], now, bornFinal(ended[k]) && !otherShards(ended, k))
}

// EndOf reads an execution that has ended at now, unless it says when. whole: it stands for all shards of its fire, see
// MayBeWhole. It is false for what is not final, or belongs to no job with an id.
func EndOf(e *entity.Execution, now time.Time, whole bool) (end End, ok bool) {
	if !e.Status.Final() {
		return end, false
	}
	if end.Job, ok = identity.Bytes(e.JobID); !ok {
		return end, false
	}
	end.Node, end.Status, end.Trigger, end.Reason = e.NodeID[:min(len(e.NodeID), maxName)], e.Status, e.Trigger, e.Reason
	end.Version, end.Retries, end.Fires = bounded(e.JobVersion, 0), bounded(e.RetryCount, 0), 1
	end.At = e.EndTime
	if end.At.IsZero() {
		end.At = now
	}
	if !e.StartTime.IsZero() {
		end.Started, end.Duration = true, e.Duration
		if e.Trigger == entity.TriggerSchedule && e.Attempt <= 1 {
			end.Timed, end.Lateness = true, e.Lateness()
		}
	}
	end.Item, end.Waited = e.Item(), e.Waited
	if e.IsRange() {
		end.Fires = bounded(e.SkipCount, 1)
	} else if e.ShardTotal > 1 && e.ShardTotal <= MaxShards && e.RetryOf == "" && !whole {
		end.Fire, end.Shard, end.Shards = fireHash(e.FireKey), min(max(e.ShardIndex, 0), e.ShardTotal-1), e.ShardTotal
	}
	return end, true
}

// bornFinal tells whether an execution may be the only one of a fire with shards: of shard 0, and final when it was
// made. A fire that is decided not to run has one such execution. So has nobody else: where the store refuses a fire,
// or a newer one replaces it at once, all shards end together.
func bornFinal(e *entity.Execution) bool {
	return e.ShardIndex == 0 && e.Attempt == 0 && !e.EndTime.IsZero() && e.EndTime.Equal(e.CreateTime)
}

// MayBeWhole is bornFinal for a fire with shards. Such an end is whole where no other shard of its fire is stored.
func MayBeWhole(e *entity.Execution) bool { return e.ShardTotal > 1 && bornFinal(e) }

// otherShards tells whether another shard of the k-th execution's fire has ended with it.
func otherShards(ended []*entity.Execution, k int) bool {
	e := ended[k]
	for _, other := range ended {
		if other.ShardIndex != 0 && other.FireKey == e.FireKey && other.JobID == e.JobID {
			return true
		}
	}
	return false
}

// Print is a hash of what tells an end from others: the same in an execution that is stored and in its digest. Two ends
// of one job in one millisecond that count alike may share it.
func (e *End) Print() uint64 {
	h := uint64(0xcbf29ce484222325)
	mix := func(n uint64) {
		for range 8 {
			h = (h ^ n&0xff) * 0x100000001b3
			n >>= 8
		}
	}
	mix(binary.LittleEndian.Uint64(e.Job[:8]))
	mix(binary.LittleEndian.Uint64(e.Job[8:]))
	mix(fireHash(e.Node))
	mix(uint64(moment(e.At)))
	mix(uint64(e.Version)<<32 | uint64(e.Retries))
	mix(e.Fire)
	mix(uint64(e.Shards)<<32 | uint64(e.Shard))
	return h
}

// fireHash is FNV-1a with 64 bits. It is frozen: shards of one fire end on nodes of
// different releases.
func fireHash(key string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 0x100000001b3
	}
	return h
}

// millis is a span in whole milliseconds within the bounds.
func millis(d time.Duration) int64 { return min(max(d.Milliseconds(), 0), maxMillis) }

// bounded is a count of at least low that fits its column.
func bounded(n, low int) int { return min(max(n, low), math.MaxInt32) }
