package app_test

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// tally counts the statements of a store. Safe for concurrent use.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

// Statement implements answer.Wire.
func (c *tally) Statement(_ context.Context, _ *answer.Session, query string, pass, _ func() error) error {
	c.mu.Lock()
	c.seen[strings.Join(strings.Fields(query), " ")]++
	c.mu.Unlock()
	return pass()
}

// Closed implements answer.Wire.
func (c *tally) Closed(*answer.Session) {}

// over are the statements of so much time.
func (c *tally) over(d time.Duration) map[string]int {
	c.mu.Lock()
	clear(c.seen)
	c.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.seen)
}

// Workflow runs that wait, for a moment and for people, are not walked: they cost a server that does nothing else at
// most three statements a second. PS_WAITING_RUNS is how many; 100,000 take a minute.
func TestWorkflowRunsThatWaitCostNothing(t *testing.T) {
	waiting, err := strconv.Atoi(cmp.Or(os.Getenv("PS_WAITING_RUNS"), "5000"))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		const long = 2 * time.Minute
		n, c := counting(t)
		defer n.stop()
		job := n.create(newJob("waits", func(j *entity.Job) {
			j.Type, j.Class, j.Data = entity.JobWorkflow, "",
				`{"steps": [{"name": "later", "wait": {"forSec": 86400}}, {"name": "asked", "approval": {"users": ["ann"]}}]}`
		}))
		time.Sleep(time.Minute)
		before := c.over(long)
		root := n.trigger(job.ID)
		n.copyRun(root, n.awaitSteps(root, job.ID, "later", "asked"), waiting)
		time.Sleep(time.Minute)
		after := c.over(long)
		for query, times := range after {
			if more := times - before[query]; more > 0 {
				t.Logf("%d more: %s", more, query[:min(len(query), 140)])
			}
		}
		require.LessOrEqual(t, float64(sum(after)-sum(before)), 3*long.Seconds())
	})
}

func sum(times map[string]int) (all int) {
	for _, n := range times {
		all += n
	}
	return all
}

// awaitSteps waits until these steps of a run are there.
func (n *node) awaitSteps(root, workflowID string, names ...string) (steps []*entity.Execution) {
	n.t.Helper()
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = wf.ExecutionID(root, wf.StepID(workflowID, name), wf.Key{Name: name, Item: wf.Whole, Generation: 1})
	}
	n.await("the steps are there", func() bool {
		var err error
		steps, err = n.Store.Executions.ByIDs(n.t.Context(), ids)
		require.NoError(n.t, err)
		return len(steps) == len(ids)
	})
	return steps
}

// counting is a node whose statements are counted, and that knows the user ann.
func counting(t *testing.T) (*node, *tally) {
	t.Helper()
	c := &tally{seen: map[string]int{}}
	store := &answer.Store{Wire: c}
	n := &node{t: t, cfg: newConfig(t), clock: clocktest.NewShifted(), script: &script{}, log: &logtest.Log{}}
	n.script.reply = func(context.Context, entity.Run) entity.Outcome { return entity.Opened() }
	engine, err := app.NewEngine(t.Context(), n.cfg, app.Options{
		Clock: n.clock, Executor: n.script, Logger: slog.New(slog.NewTextHandler(n.log, nil)), Connect: store.Connect,
	})
	require.NoError(t, err)
	n.Engine = engine
	now := engine.StoreTime().Now()
	require.NoError(t, engine.Store.AddUser(t.Context(), entity.User{
		ID: identity.RandomID(now), Name: "ann", Role: "admin", PasswordHash: "x", CreateTime: now, UpdateTime: now,
	}))
	engine.Start()
	t.Cleanup(n.complain)
	return n, c
}

// copyRun stores so many runs that stand where this one stands.
func (n *node) copyRun(root string, steps []*entity.Execution, count int) {
	n.t.Helper()
	runs, err := n.Store.WorkflowRuns(n.t.Context(), []string{root})
	require.NoError(n.t, err)
	const atOnce = 1000
	for begin := 0; begin < count; begin += atOnce {
		var execs []*entity.Execution
		var copies []wf.Run
		for range min(atOnce, count-begin) {
			e, run := *n.row(root), runs[0]
			e.ID = identity.RandomID(e.CreateTime)
			e.FireKey = "manual:" + e.ID
			run.ID = e.ID
			execs, copies = append(execs, &e), append(copies, run)
			for _, s := range steps {
				_, key, _ := s.StepOf()
				parsed, err := wf.ParseKey(key)
				require.NoError(n.t, err)
				step := *s
				step.ID, step.FireKey = wf.ExecutionID(e.ID, s.JobID, parsed), identity.StepKey(e.ID, key)
				execs = append(execs, &step)
			}
		}
		require.NoError(n.t, n.Store.Write(n.t.Context(), repository.LaneAPI, "test",
			func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Executions.Insert(ctx, execs); err != nil {
					return err
				}
				return tx.WorkflowRuns.SaveRuns(ctx, copies, copies[0].UpdateTime)
			}))
	}
}
