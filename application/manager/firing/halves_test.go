package firing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/application/manager/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

// atNoon is the fire of a job that is due at Noon for the first time.
func atNoon() coordination.Fire {
	return coordination.PlannedFire(planning.Fire{Nominal: second(0), Due: second(0), Trigger: entity.TriggerSchedule})
}

// Rule 1, for a fire of several runs of which some are in the store: those
// stay as they are, the fire is counted once and does not begin a second time.
func TestAFireOfWhichSomeShardsAreStoredIsLeftAlone(t *testing.T) {
	for name, shards := range map[string][]int{"the first": {0}, "the last": {2}, "all": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			jobs := addMany(t, n, 3, func(_ int, j *entity.Job) { j.ShardCount = 3 })
			rows, err := atNoon().Rows(jobs[1], second(-60))
			require.NoError(t, err)
			for _, shard := range shards {
				insertRow(t, n, rows[shard])
			}
			require.NoError(t, fireOnce(t, n))
			require.Equal(t, 1, duplicates(n))
			require.Len(t, n.Rows(t, jobs[1].ID), len(shards))
			for _, job := range jobs {
				require.Equal(t, second(1), n.Job(t, job.ID).NextFireTime)
			}
			require.Len(t, n.Rows(t, jobs[0].ID), 3)
			require.Len(t, n.Rows(t, jobs[2].ID), 3)
		})
	}
}
