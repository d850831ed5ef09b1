package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// kinds counts what the runs of a job wait for.
func (d *desk) kinds(jobID string) map[entity.Wait]int {
	d.T.Helper()
	out := map[entity.Wait]int{}
	for _, row := range d.Rows(jobID) {
		out[row.Claim.WaitsFor()]++
	}
	return out
}

// rehomeStatements is stepStatements for a step that also makes fires known.
func rehomeStatements(d *desk) int { return stepStatements(d) + 8 }

// A group with a first limit, or without one again, finds a job with many runs
// that wait: they move in steps, and only then the job itself is changed.
func TestManyRunsOfAJobAreBoundAndFreedInSteps(t *testing.T) {
	counted(t, func(d *desk, c *transactions) {
		t := d.T
		d.Grouped(0)
		job := d.In("g", "plain", nil)
		d.Wait(job.ID, 700)
		d.Limit("g", 2)
		require.Equal(t, map[entity.Wait]int{entity.WaitSlot: 2, entity.WaitGroup: 698}, d.kinds(job.ID))
		require.Equal(t, 2, d.Slots("g"))
		require.Len(t, d.InFlightFires(t, job.ID), 700)
		require.Equal(t, 4, c.count["job.rehome"])
		require.LessOrEqual(t, c.most["job.rehome"], rehomeStatements(d))
		seq := d.Job(job.ID).FenceSeq
		require.EqualValues(t, 700, seq, "each fire has a number of its own")

		d.Limit("g", 0)
		require.Equal(t, map[entity.Wait]int{entity.WaitSlot: 700}, d.kinds(job.ID))
		require.Zero(t, d.Slots("g"))
		require.Empty(t, d.InFlightFires(t, job.ID))
	})
}

// A job that goes to another group takes its queue along, run by run once.
func TestManyRunsMoveToTheirNewGroupInSteps(t *testing.T) {
	counted(t, func(d *desk, c *transactions) {
		t := d.T
		d.Grouped(1)
		_, err := d.Groups.Create(t.Context(), "h", 3)
		require.NoError(t, err)
		job := d.In("g", "moves", nil)
		d.Wait(job.ID, 500)
		require.Equal(t, 1, d.Slots("g"))
		d.Replace(job.ID, func(j *entity.Job) { j.Group = "h" })
		require.Equal(t, []int{0, 3}, []int{d.Slots("g"), d.Slots("h")})
		require.Equal(t, map[entity.Wait]int{entity.WaitSlot: 3, entity.WaitGroup: 497}, d.kinds(job.ID))
		require.Equal(t, 3, c.count["job.rehome"])

		d.Replace(job.ID, func(j *entity.Job) { j.Group = "none" })
		require.Equal(t, map[entity.Wait]int{entity.WaitSlot: 500}, d.kinds(job.ID))
		require.LessOrEqual(t, c.most["job.rehome"], rehomeStatements(d))
	})
}

// What was moved when the store went away waits for its group; the task that
// makes jobs follow their groups does the rest.
func TestRunsThatWereHalfMovedAreMovedByTheTask(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.Grouped(0)
		job := d.In("g", "plain", nil)
		d.Wait(job.ID, 700)
		steps := 0
		d.Faults.Before(func(name string) {
			if name == "job.rehome" {
				if steps++; steps == 1 { // the second is refused
					d.Faults.Next("job.rehome", enginetest.Refused)
				}
			}
		})
		_, err := d.Groups.Limit(t.Context(), "g", 2, 0)
		require.Error(t, err)
		require.False(t, d.Job(job.ID).Limited)
		require.Equal(t, map[entity.Wait]int{
			entity.WaitSlot:  700 - admission.MoveLimit,
			entity.WaitGroup: admission.MoveLimit,
		}, d.kinds(job.ID))
		require.NoError(t, d.Groups.Sweep(t.Context()))
		require.True(t, d.Job(job.ID).Limited)
		require.Equal(t, map[entity.Wait]int{entity.WaitSlot: 2, entity.WaitGroup: 698}, d.kinds(job.ID))
		require.Equal(t, 2, d.Slots("g"))
	})
}

// A fire of which a run has begun keeps its place, and its other runs wait for
// no place that the fire itself holds.
func TestAFireThatHasBegunIsBoundAsAWhole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := &desk{servicetest.On(t, enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{Slots: 1}))}
		d.Start(t)
		release := d.Script.Hold()
		d.Grouped(0)
		job := d.In("g", "wide", func(j *entity.Job) { j.ShardCount = 3 })
		shards := d.Trigger(job.ID)
		d.AwaitStatus(t, shards[0], entity.StatusRunning)
		d.Wait(job.ID, 100)
		d.Limit("g", 1)
		require.Equal(t, []bool{true, true}, d.Ready(shards[1:]...))
		require.Equal(t, 300, d.kinds(job.ID)[entity.WaitGroup])
		release()
		for _, id := range shards {
			d.AwaitStatus(t, id, entity.StatusSuccess)
		}
	})
}
