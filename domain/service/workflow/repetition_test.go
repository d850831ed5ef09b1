package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// repeated names the steps that a retry repeats, in the order of the definition.
func repeated(g *workflow.Graph, plan []workflow.Repetition) string {
	var names []string
	for i, r := range plan {
		if r.Repeat {
			names = append(names, g.Definition().Steps[i].Name)
		}
	}
	return strings.Join(names, " ")
}

// closed is a run of a graph with these fates.
func closed(t testing.TB, fates []wf.Fate, steps ...wf.Step) (*workflow.Graph, *wf.State) {
	t.Helper()
	d := &wf.Definition{Steps: steps}
	g, err := workflow.NewGraph(d)
	require.NoError(t, err)
	s := wf.NewState(d, noon)
	s.Phase = wf.PhaseClosed
	for i, f := range fates {
		s.Steps[i].Fate = f
	}
	return g, s
}

func TestWhatARetryRepeats(t *testing.T) {
	ok, no, blocked, cond := wf.FateSucceeded, wf.FateFailed, wf.FateUpstreamFailed, wf.FateCondition
	chain := []wf.Step{
		step("a", nil), step("b", nil, "a"), step("c", nil, "b"), step("other", nil), step("last", func(s *wf.Step) {
			s.Finally = true
		}),
	}
	diamond := []wf.Step{
		step("load", nil), step("big", func(s *wf.Step) { s.When = "params.big" }, "load"),
		step("report", on("ok"), "load", "big"), step("publish", nil, "report"), step("undo", on("failure"), "publish"),
	}
	for name, c := range map[string]struct {
		steps []wf.Step
		fates []wf.Fate
		from  string
		want  string
	}{
		"what failed, and what follows":  {chain, []wf.Fate{ok, no, blocked, ok, ok}, "", "b c last"},
		"nothing failed":                 {chain, []wf.Fate{ok, ok, ok, ok, ok}, "", "last"},
		"a named step, and what follows": {chain, []wf.Fate{ok, ok, ok, ok, ok}, "b", "b c last"},
		"a failure beside a named step":  {chain, []wf.Fate{ok, ok, ok, no, ok}, "c", "c other last"},
		"a named step that did not run":  {chain, []wf.Fate{ok, no, blocked, ok, ok}, "c", "b c last"},
		"a cancelled run": {
			chain, []wf.Fate{ok, wf.FateCancelled, wf.FateRunCancelled, ok, ok}, "", "b c last",
		},
		"a run that nobody decided about": {chain, make([]wf.Fate, 5), "", "a b c other last"},
		"a live step of a lost run":       {chain, []wf.Fate{ok, wf.FateLive, 0, ok, 0}, "", "b c last"},
		"a word of a person": {
			chain, []wf.Fate{ok, wf.FateSucceededByHand, no, wf.FateSkippedByHand, ok}, "", "c last",
		},
		"a retry of a retry":     {chain, []wf.Fate{wf.FateReused, no, blocked, wf.FateReused, ok}, "", "b c last"},
		"a choice to skip stays": {diamond, []wf.Fate{ok, cond, ok, no, ok}, "", "publish undo"},
		"unless it follows": {
			diamond, []wf.Fate{ok, cond, ok, ok, wf.FateUpstreamSkipped}, "load", "load big report publish undo",
		},
		"a way back that ran": {
			diamond, []wf.Fate{ok, ok, no, blocked, wf.FateUpstreamSkipped}, "", "report publish undo",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, s := closed(t, c.fates, c.steps...)
			plan, err := workflow.Repetitions(g, s, strings.Fields(c.from))
			require.NoError(t, err)
			require.Equal(t, c.want, repeated(g, plan))
			for i, r := range plan {
				require.NotEmpty(t, r.Why, i)
			}
		})
	}
}

func TestWhyARetryRepeats(t *testing.T) {
	items := func(s *wf.State, failed ...int) {
		s.Steps[2].Items = wf.NewItems(5)
		for _, i := range failed {
			s.Steps[2].Items.Failed.Add(i)
		}
	}
	g, s := closed(t, []wf.Fate{
		wf.FateSucceeded, wf.FateSucceeded, wf.FateSucceeded, wf.FateCondition, wf.FateDead, wf.FateRunStopped,
	},
		step("load", nil), wf.Step{Name: "ok", Approval: &wf.Approval{}},
		step("each", func(s *wf.Step) { s.ForEach = &wf.ForEach{} }),
		step("none", nil), step("bad", nil), step("never", nil), step("after", nil, "bad", "load"),
		step("last", func(s *wf.Step) { s.Finally = true }))
	items(s)
	why := func(from ...string) (said []string) {
		plan, err := workflow.Repetitions(g, s, from)
		require.NoError(t, err)
		for _, r := range plan {
			said = append(said, fmt.Sprintf("%t %s", r.Repeat, r.Why))
		}
		return said
	}
	s.Steps[6].Fate = wf.FateSucceeded
	require.Equal(t, []string{
		"false it succeeded, and its result is reused", "false it was approved, and nobody is asked again",
		"false the results of its 5 items are reused", "false it was skipped (CONDITION), and stays so",
		"true it ended as DEAD", "true it did not run (RUN_STOPPED)", "true it follows bad, which is repeated",
		"true it runs last in every workflow run (finally)",
	}, why())
	items(s, 1, 4)
	require.Equal(t, "false it succeeded although 2 of its 5 items failed; the results of the others are reused", why()[2])
	require.Equal(t, "true it is named in from", why("each", "each")[2])
}

func TestFromNamesStepsOfTheRun(t *testing.T) {
	g, s := closed(t, []wf.Fate{wf.FateFailed, wf.FateOpen}, step("a", nil), step("b", nil, "a"))
	for from, code := range map[string]string{
		"A": "unknown_step", "": "unknown_step", "a[1]": "unknown_step", "b": "not_decided",
	} {
		_, err := workflow.Repetitions(g, s, []string{"a", from})
		var wrong *apperror.Error
		require.ErrorAs(t, err, &wrong, from)
		require.Equal(t, []string{"from", code}, []string{wrong.Fields[0].Field, wrong.Fields[0].Code}, from)
	}
}

// The repeated steps of any graph are closed under "follows from", and a kept one is a success or a choice to skip.
func TestARepetitionReachesAllThatFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "steps")
		steps, fates := make([]wf.Step, n), make([]wf.Fate, n)
		var from []string
		named := map[string]bool{}
		for i := range steps {
			steps[i] = step(fmt.Sprint("s", i), nil)
			fates[i] = wf.Fate(rapid.IntRange(int(wf.FateSucceeded), int(wf.FateItemsFailed)).Draw(t, "fate"))
			if steps[i].Finally = rapid.IntRange(0, 9).Draw(t, "finally") == 0; !steps[i].Finally {
				for k := range i {
					if !steps[k].Finally && rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
						steps[i].Needs = append(steps[i].Needs, wf.Need{Step: steps[k].Name})
					}
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "named") == 0 {
				from, named[steps[i].Name] = append(from, steps[i].Name), true
			}
		}
		d := &wf.Definition{Steps: rapid.Permutation(steps).Draw(t, "order")}
		g, err := workflow.NewGraph(d)
		require.NoError(t, err)
		s := wf.NewState(d, noon)
		for i := range d.Steps {
			at := 0
			_, err := fmt.Sscanf(d.Steps[i].Name, "s%d", &at)
			require.NoError(t, err)
			s.Steps[i].Fate = fates[at]
		}
		plan, err := workflow.Repetitions(g, s, from)
		require.NoError(t, err)
		for i := range d.Steps {
			follows := false
			for _, at := range g.Needs(i) {
				follows = follows || plan[at].Repeat
			}
			class := s.Steps[i].Fate.Class()
			own := named[d.Steps[i].Name] || d.Steps[i].Finally || class == wf.ClassFailure || class == wf.ClassBlocked
			require.Equal(t, own || follows, plan[i].Repeat, "%s: %s", d.Steps[i].Name, plan[i].Why)
		}
	})
}
