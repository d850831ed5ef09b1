package firing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// panicking panics inside the transactions that insert runs of one job.
func panicking(jobID string) func(execs []*entity.Execution) error {
	return func(execs []*entity.Execution) error {
		if anyOf(execs, jobID) {
			panic("a row that panics")
		}
		return nil
	}
}

// trap compiles the schedules of one zone into what panics.
type trap struct {
	admission.Compiler
	compiling bool
}

const trapZone = "Asia/Tokyo"

func (c trap) Compile(spec schedule.Spec) (*schedule.Schedule, error) {
	if spec.TimeZone != trapZone {
		return c.Compiler.Compile(spec)
	}
	if c.compiling {
		panic("a compiler that panics")
	}
	return nil, nil // whose methods panic
}

// Rule 10: a job with which the planner panics is paused with the reason. The
// others fire, and so they do on the next node.
func TestAJobThatPanicsIsPausedAndTheOthersFire(t *testing.T) {
	for name, set := range map[string]func(n *enginetest.Node, job *entity.Job){
		"when its schedule is compiled": func(n *enginetest.Node, _ *entity.Job) {
			n.Planner.Schedules = trap{n.Schedules, true}
		},
		"when it is planned": func(n *enginetest.Node, _ *entity.Job) { n.Planner.Schedules = trap{n.Schedules, false} },
		"when its runs are recorded": func(n *enginetest.Node, job *entity.Job) {
			n.Planner.Store = insertStore{n.Faults, "fire", panicking(job.ID)}
		},
	} {
		for kind, overlap := range overlaps {
			t.Run(name+" "+kind, func(t *testing.T) {
				eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
					jobs := addMany(t, n, 12, func(i int, j *entity.Job) {
						j.Overlap = overlap
						if i == 5 {
							j.ShardCount, j.Schedule.TimeZone = 3, trapZone
						}
					})
					set(n, jobs[5])
					n.Fire(t)
					for i, job := range jobs {
						if i != 5 {
							require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)))
							require.Equal(t, second(1), n.Job(t, job.ID).NextFireTime)
						}
					}
					execs := n.Executions(t, jobs[5].ID)
					require.Equal(t, []string{"FAILED(INVALID)", "FAILED(INVALID)", "FAILED(INVALID)"}, enginetest.States(execs),
						"one for each shard")
					require.Contains(t, execs[2].ErrorMessage, "panic")
					paused := n.Job(t, jobs[5].ID)
					require.Equal(t, entity.JobPaused, paused.Status)
					require.Contains(t, paused.Pause.Reason, "panic")
					require.Equal(t, 2, paused.Version)
					n.FireAt(t, second(1))
					require.Len(t, n.Executions(t, jobs[5].ID), 3)
					require.Len(t, n.Executions(t, jobs[0].ID), 2)
					require.Equal(t, slotsInUse(n), len(n.Script.Await(t, slotsInUse(n))), "no slot is lost")
				})
			})
		}
	}
}

// A change that is announced on this node may panic as well.
func TestAHintThatPanicsIsLeftToTheScan(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(func(j *entity.Job) { j.Schedule.TimeZone = trapZone }))
	n.Planner.Schedules = trap{n.Schedules, true}
	n.Planner.JobChanged(job)
	require.Zero(t, n.Planner.Held())
}

// trapMetrics panics once, when a batch has been fired.
type trapMetrics struct {
	firing.Metrics
	left int
}

func (m *trapMetrics) FireBatch(fires int, took time.Duration) {
	if m.left--; m.left >= 0 {
		panic("figures that panic")
	}
	m.Metrics.FireBatch(fires, took)
}

// A panic that no job is to blame for ends one batch: what is due stays due.
func TestABatchThatPanicsLosesNoJob(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Planner.Metrics = &trapMetrics{n.Planner.Metrics, 1}
	jobs := addMany(t, n, 3, nil)
	require.ErrorContains(t, fireOnce(t, n), "figures that panic")
	n.FireAt(t, second(1))
	for _, job := range jobs {
		require.Equal(t, []int{0, 1}, scheduledTimes(n.Executions(t, job.ID)))
	}
}
