package entity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

func TestCoordinationOfJobs(t *testing.T) {
	t.Parallel()
	const parallel, serial, discard, replace = entity.OverlapParallel, entity.OverlapSerial, entity.OverlapDiscard,
		entity.OverlapReplace
	delay := schedule.Spec{Kind: schedule.FixedDelay}
	for _, c := range []struct {
		name        string
		job         entity.Job
		coordinated bool
		limit       int
		single      bool
	}{
		{"plain", entity.Job{Overlap: parallel, ShardCount: 1}, false, 0, false},
		{"parallel with a limit", entity.Job{Overlap: parallel, MaxConcurrency: 3, ShardCount: 1}, true, 3, false},
		{"parallel, one at a time", entity.Job{Overlap: parallel, MaxConcurrency: 1, ShardCount: 1}, true, 1, true},
		{"serial", entity.Job{Overlap: serial, ShardCount: 1}, true, 1, true},
		{"serial with a limit", entity.Job{Overlap: serial, MaxConcurrency: 2, ShardCount: 1}, true, 2, false},
		{"discard", entity.Job{Overlap: discard, ShardCount: 1}, true, 1, true},
		{"replace", entity.Job{Overlap: replace, ShardCount: 1}, true, 1, true},
		{"sharded", entity.Job{Overlap: parallel, ShardCount: 2}, true, 0, false},
		{"sharded and serial", entity.Job{Overlap: serial, ShardCount: 2}, true, 1, false},
		{"broadcast", entity.Job{Overlap: parallel, Broadcast: true, ShardCount: 1}, true, 0, false},
		{"broadcast and serial", entity.Job{Overlap: serial, Broadcast: true, ShardCount: 1}, true, 1, false},
		{"fixed delay", entity.Job{Overlap: parallel, Schedule: delay, ShardCount: 1}, true, 1, true},
		{"fixed delay and serial", entity.Job{Overlap: serial, Schedule: delay, ShardCount: 1}, true, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.coordinated, c.job.Coordinated())
			require.Equal(t, c.limit, c.job.FireLimit())
			require.Equal(t, c.single, c.job.SingleRun())
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	require.Zero(t, (&entity.Job{}).Timeout())
	require.Equal(t, 90*time.Second, (&entity.Job{TimeoutSec: 90}).Timeout())
}

// The partition is stored with the job and computed by every release.
func TestPartitionsAreFrozenAndSpread(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0xc5, entity.PartitionOf(""), "the offset of FNV-1a, its last byte")
	require.Equal(t, 0x2c, entity.PartitionOf("a"))
	load := make([]int, entity.Partitions)
	const perPartition = 100
	for i := range entity.Partitions * perPartition {
		load[entity.PartitionOf(fmt.Sprintf("0190a5e0-7c00-7000-8000-%012d", i))]++
	}
	for p, n := range load {
		require.InDelta(t, perPartition, n, perPartition*0.6, "partition %d", p)
	}
}
