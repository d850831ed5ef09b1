package firing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// counting notes how many runs each transaction inserts.
func counting(batches *[]int) func(execs []*entity.Execution) error {
	return func(execs []*entity.Execution) error {
		*batches = append(*batches, len(execs))
		return nil
	}
}

// Rule 8: a fire transaction is bounded in executions, whether they are shards, fires
// that are caught up with, or both. A fire is not divided.
func TestAFireTransactionIsBoundedInRows(t *testing.T) {
	fireAll := entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 3600, MaxFires: 1000}
	for name, c := range map[string]struct {
		jobs, shards, late int
		most, total        int
	}{
		"many shards":              {5, 1024, 0, 2048, 5 * 1024},
		"some shards":              {60, 50, 0, 2050, 3000},
		"much to catch up with":    {10, 1, 250, 2000, 10 * 251},
		"shards to catch up with":  {3, 300, 5, 2100, 3 * 300 * 6},
		"more shards than a batch": {2, 2500, 0, 2500, 2 * 2500},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			var batches []int
			n.Planner.Store = insertStore{n.Faults, "fire", counting(&batches)}
			jobs := addMany(t, n, c.jobs, func(_ int, j *entity.Job) { j.ShardCount, j.Misfire = c.shards, fireAll })
			n.FireAt(t, second(c.late))
			total := 0
			for _, rows := range batches {
				require.LessOrEqual(t, rows, c.most)
				total += rows
			}
			require.Equal(t, c.total, total)
			for _, job := range jobs {
				require.Equal(t, second(c.late+1), n.Job(t, job.ID).NextFireTime)
			}
		})
	}
}

// Jobs of one shard that come due while some of many shards are being recorded
// wait for one transaction and not for all of them.
func TestJobsOfOneShardDoNotWaitForThoseOfMany(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	addMany(t, n, 20, func(i int, j *entity.Job) { j.Name, j.ShardCount = fmt.Sprint("heavy ", i), 1000 })
	light := addMany(t, n, 10, func(_ int, j *entity.Job) { j.Schedule.Anchor = second(0).Add(-999 * time.Millisecond) })
	require.NoError(t, fireOnce(t, n))
	n.Clock.Advance(time.Millisecond)
	require.Empty(t, n.Executions(t, light[0].ID))
	require.NoError(t, fireOnce(t, n))
	for _, job := range light {
		require.Len(t, n.Executions(t, job.ID), 1)
	}
}

// Late fires take an eighth of the executions beside punctual ones, and all of them
// when they are alone.
func TestWhatIsLateTakesAnEighthOfTheRows(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	var batches []int
	n.Planner.Store = insertStore{n.Faults, "fire", counting(&batches)}
	fireAll := entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 3600, MaxFires: 1000}
	addMany(t, n, 30, func(_ int, j *entity.Job) { j.Misfire = fireAll })
	n.Clock.Advance(500*time.Second + time.Millisecond)
	fresh := addMany(t, n, 10, func(i int, j *entity.Job) {
		j.Name, j.ShardCount, j.Schedule.Anchor = fmt.Sprint("fresh ", i), 150, second(499).Add(time.Millisecond)
	})
	require.NoError(t, fireOnce(t, n))
	for _, job := range fresh {
		require.Len(t, n.Executions(t, job.ID), 150, "what is on time is in the first batch")
	}
	require.Equal(t, 2000, batches[0])
}
