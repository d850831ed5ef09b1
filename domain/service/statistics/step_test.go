package statistics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// step is the end of a step of a workflow run.
func step(name, key string, change func(e *entity.Execution)) *entity.Execution {
	e := plain(0)
	e.JobID, e.Trigger = identity.StepID(someJob, name), entity.TriggerDependency
	e.FireKey = identity.StepKey(e.ID, key)
	if change != nil {
		change(e)
	}
	return e
}

// unbegun is for rows of which nothing has run.
func unbegun(status entity.Status, reason entity.Reason) func(e *entity.Execution) {
	return func(e *entity.Execution) {
		e.Status, e.Reason, e.StartTime, e.Duration, e.NodeID = status, reason, time.Time{}, 0, ""
	}
}

// One workflow run is one run of its group and of the cluster. A step counts for its own id and its node, a map once,
// and its items where they ran. The word of a person, and the result of a former run, are no runs.
func TestStepsCountForThemselvesAndTheirNodes(t *testing.T) {
	t.Parallel()
	onAnother := func(e *entity.Execution) { e.NodeID = "b" }
	sums := statistics.NewSums()
	for _, end := range decoded(t, []*entity.Execution{
		plain(0), // the root
		step("load", "load", nil),
		step("load", "load~2", func(e *entity.Execution) { e.Status = entity.StatusFailed }),
		step("load", "load~3", unbegun(entity.StatusSuccess, entity.ReasonOperator)),
		step("load", "load", unbegun(entity.StatusSuccess, entity.ReasonReused)),
		step("load", "load", unbegun(entity.StatusSkipped, entity.ReasonCondition)),
		step("load", "load", unbegun(entity.StatusSkipped, entity.ReasonOperator)),
		step("load", "load", unbegun(entity.StatusCancelled, entity.ReasonOperator)),
		step("load", "load", func(e *entity.Execution) {
			e.Status, e.Reason = entity.StatusCancelled, entity.ReasonOperator // it had begun
		}),
		step("map", "map", func(e *entity.Execution) { e.NodeID = "" }),
		step("map", "map[0]", onAnother), step("map", "map[1]", onAnother),
	}) {
		sums.Add(&end, "g")
	}
	counted := map[string][]int64{}
	for _, name := range sums.Jobs() {
		r := sums.Job(name)
		counted[identity.Text(name.Job)] = []int64{r.Runs, r.Success, r.Failed, r.Cancelled, r.Skipped}
	}
	require.Equal(t, map[string][]int64{
		someJob:                          {1, 1, 0, 0, 0},
		identity.StepID(someJob, "load"): {3, 1, 1, 1, 2},
		identity.StepID(someJob, "map"):  {1, 1, 0, 0, 0},
	}, counted)
	scopes := map[string]int64{}
	for _, name := range sums.Scopes() {
		scopes[string(name.Kind)+" "+name.Name] = sums.Scope(name).Runs
	}
	require.Equal(t, map[string]int64{"CLUSTER ": 1, "GROUP g": 1, "NODE scheduler-a-1:8080": 4, "NODE b": 2}, scopes)
}

// A baseline learns from steps, and from maps as a whole. It learns nothing from a workflow run that waited for people.
func TestWhatABaselineLearnsOfWorkflows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  *entity.Execution
		want bool
	}{
		"a step":                  {step("load", "load", nil), true},
		"a map":                   {step("map", "map", nil), true},
		"an item":                 {step("map", "map[3]", nil), false},
		"a step that never began": {step("load", "load", unbegun(entity.StatusFailed, entity.ReasonInvalid)), false},
		"a root":                  {plain(0), true},
		"a root that waited for a person": {func() *entity.Execution {
			e := plain(0)
			e.Waited = true
			return e
		}(), false},
		"a job that a step starts": {func() *entity.Execution {
			e := plain(0)
			e.Trigger = entity.TriggerDependency
			return e
		}(), false},
	} {
		ends := decoded(t, []*entity.Execution{c.end})
		_, learns := baseline.RunOf(&ends[0], time.UTC)
		require.Equal(t, c.want, learns, name)
	}
}
