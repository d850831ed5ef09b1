package persistence_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// layered says how many steps follow as many others, in so many runs: each one of them, or each all of them.
type layered struct {
	runs, wide int
	all        bool
}

// TestWhatEdgesCost holds the follow transaction to its price: its statements do not grow with the edges that it
// decides about. With the rows they grow by one for each chunk. On SQLite a chunk is eight executions, or one run. On
// MariaDB it is a hundred rows that are deleted, and more of all others.
func TestWhatEdgesCost(t *testing.T) {
	for store, graphs := range map[string]map[layered]int{
		"sqlite":  {{1, 40, false}: 10, {1, 40, true}: 10, {10, 40, false}: 67, {10, 40, true}: 67},
		"mariadb": {{1, 2, true}: 6, {1, 40, false}: 6, {1, 40, true}: 6, {10, 40, true}: 9},
	} {
		t.Run(store, func(t *testing.T) {
			for g, want := range graphs {
				cfg := dbtest.SQLite(t)
				if store == "mariadb" {
					dbtest.NeedMySQL(t)
					cfg = dbtest.Migrated(t)
				}
				got, all := g.followed(t, cfg)
				require.Equal(t, want, got.Statements, "%+v:\n\t%s", g, strings.Join(shortened(all), "\n\t"))
			}
		})
	}
}

// steps are those of the workflow.
func (g layered) steps() string {
	var steps, every []string
	for i := range g.wide {
		every = append(every, fmt.Sprintf(`"a%d"`, i))
	}
	for i := range g.wide {
		needs := every[i]
		if g.all {
			needs = strings.Join(every, ",")
		}
		steps = append(steps, fmt.Sprintf(`{"name": "a%d", "custom": {"jobClass": "noop"}}`, i),
			fmt.Sprintf(`{"name": "b%d", "custom": {"jobClass": "noop"}, "needs": [%s]}`, i, needs))
	}
	return `{"steps": [` + strings.Join(steps, ",") + "]}"
}

// flowOf is a workflow.
func flowOf(name, steps string) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobWorkflow, "", steps })
}

// followed is the traffic of the transaction that follows the ends of the first steps of all runs.
func (g layered) followed(t *testing.T, cfg persistence.Config) (traffic, []string) {
	t.Helper()
	clock := clocktest.NewManual(enginetest.Noon)
	cfg.Clock = clock
	s, meter := metered(t, cfg, false)
	n := enginetest.On(t, s, enginetest.Options{Clock: clock, Slots: 2 * g.runs * g.wide})
	release := n.Script.Hold()
	n.Start(t)
	job := n.Add(t, flowOf("layers", g.steps()))
	for range g.runs {
		n.Trigger(t, job.ID)
	}
	look := func() {
		_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
		require.NoError(t, err)
	}
	enginetest.Await(t, func() bool {
		look()
		return len(n.Script.Runs()) == g.runs*g.wide
	}, "the first steps begin")
	n.Runner.Suspend(true)
	release()
	enginetest.Await(t, func() bool {
		todos, err := s.Todos(t.Context(), entity.TodoRun, n.Time.Now().Add(time.Hour), 1000)
		require.NoError(t, err)
		running, _ := n.Runner.Load(entity.SlotGeneral) // a commit shows before it is answered, and counted
		return len(todos) == g.runs*g.wide && running == 0
	}, "their ends are stored")
	meter.Reset()
	look()
	sum, all := meter.Transactions()
	require.Len(t, meter.Each(), 1, "one transaction")
	return sum, all
}
