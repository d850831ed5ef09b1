package follow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	check "github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// somewhere draws a workflow with every kind of edge.
func somewhere(r *rand.Rand) *wf.Definition {
	def := &wf.Definition{}
	for i := range 2 + r.IntN(9) {
		s := wf.Step{Name: fmt.Sprintf("s%d", i), Tolerate: r.IntN(6) == 0, Custom: &wf.Custom{JobClass: "noop"}}
		for k := range i {
			if r.IntN(3) > 0 {
				continue
			}
			need := wf.Need{Step: fmt.Sprintf("s%d", k)}
			if r.IntN(2) == 0 {
				need.On = []wf.Word{wf.Word(wf.Words()[r.IntN(len(wf.Words()))])}
			}
			s.Needs = append(s.Needs, need)
		}
		if len(s.Needs) > 0 && r.IntN(3) == 0 {
			s.MinSuccess = r.IntN(len(s.Needs) + 1)
		}
		def.Steps = append(def.Steps, s)
	}
	return def
}

// would is what a step of a run comes to if it runs.
func would(root, step string) check.Fate {
	h := fnv.New64a()
	_, _ = h.Write([]byte(root + step))
	return []check.Fate{check.Success, check.Success, check.Failure}[h.Sum64()>>20%3]
}

// Three nodes follow the runs of one store at once, while their transactions fail in every way. Each step of each run
// has one row, and the fate that an evaluator of its own gives it.
func TestManyFollowersDecideOnce(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { storm(t, seed) })
		})
	}
}

func storm(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // it is to be repeatable
	first := enginetest.New(t, enginetest.Options{Slots: 8})
	nodes := first.Join(t, enginetest.Options{Slots: 8}, enginetest.Options{Slots: 8})
	for _, n := range nodes {
		n.Start(t)
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			root, step, _ := run.Execution.StepOf()
			if would(root, step) == check.Failure {
				return entity.Failed(entity.ReasonError, "no")
			}
			return entity.Succeeded("done")
		})
	}
	// Between a decision of the first node and its transaction the second one decides, too.
	first.Faults.Before(func(name string) {
		if name == "follow-run" {
			_, _ = nodes[1].Flow.RunOnce(t.Context(), first.Time.Now())
		}
	})
	type one struct {
		job  *entity.Job
		def  *wf.Definition
		root string
	}
	var runs []one
	for i := range 12 {
		def := somewhere(r)
		text, err := json.Marshal(def)
		require.NoError(t, err)
		job := first.Add(t, flowJob(fmt.Sprintf("storm %d", i), string(text), nil))
		runs = append(runs, one{job, def, fire(t, nodes[i%3], job)})
	}
	faults := []enginetest.Fault{
		enginetest.LostReply, enginetest.LostCommit, enginetest.Refused, enginetest.Deadlock,
	}
	open := func() (n int) {
		for _, x := range runs {
			if !first.Execution(t, x.root).Status.Final() {
				n++
			}
		}
		return n
	}
	for look := 0; open() > 0; look++ {
		require.Less(t, look, 3000, "%d runs stay open", open())
		for _, n := range nodes {
			if look < 200 && r.IntN(3) == 0 {
				name := []string{"follow-run", "complete", "claim", "follow-run"}[r.IntN(4)]
				n.Faults.Next(name, faults[r.IntN(len(faults))])
			}
		}
		done := make(chan struct{}, len(nodes))
		for _, n := range nodes {
			go func() {
				_, _ = n.Flow.RunOnce(t.Context(), n.Time.Now()) // a look that failed is repeated
				done <- struct{}{}
			}()
		}
		for range nodes {
			<-done
		}
		first.Clock.Advance(100 * time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	for _, x := range runs {
		failed := false
		fates := map[string]check.Fate{}
		for _, s := range x.def.Steps {
			fates[s.Name] = would(x.root, s.Name)
		}
		for step, want := range check.Evaluate(x.def, fates) {
			e := stepRow(t, first, x.root, x.job.ID, step)
			require.NotNil(t, e, "%s of %s has a row", step, x.root)
			got := map[entity.Status]check.Fate{
				entity.StatusSuccess: check.Success, entity.StatusFailed: check.Failure,
			}[e.Status]
			switch e.Reason {
			case entity.ReasonUpstreamFailed:
				got = check.Blocked
			case entity.ReasonUpstreamSkipped:
				got = check.Skipped
			}
			require.Equal(t, string(want), string(got), "%s of %s, which is %s (%s)", step, x.root, e.Status, e.Reason)
			for _, s := range x.def.Steps {
				failed = failed || s.Name == step && got == check.Failure && !s.Tolerate
			}
		}
		outcome := map[bool]entity.Status{true: entity.StatusFailed, false: entity.StatusSuccess}[failed]
		require.Equal(t, outcome, first.Execution(t, x.root).Status)
	}
	require.Eventually(t, func() bool {
		_, _ = first.Flow.RunOnce(t.Context(), first.Time.Now())
		return len(owed(t, first)) == 0
	}, time.Minute, time.Second, "nothing is owed any more")
}
