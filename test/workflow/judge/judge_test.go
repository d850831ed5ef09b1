package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

const definition = `{"steps": [
	{"name": "a", "http": {}},
	{"name": "each", "needs": ["a"], "http": {}, "forEach": {"items": "${steps.a.output.list}", "maxParallel": 2,
		"tolerate": {"count": 1}}},
	{"name": "gather", "needs": ["each"], "http": {}},
	{"name": "ask", "needs": ["a"], "approval": {"need": 2}},
	{"name": "b", "needs": ["ask"], "http": {}},
	{"name": "no", "needs": ["a", {"step": "ask", "on": ["failure"]}], "http": {}},
	{"name": "odd", "needs": ["a"], "when": "steps.a.output.n > 3", "http": {}},
	{"name": "quick", "needs": ["a", "gather"], "join": "ANY", "http": {}},
	{"name": "below", "needs": ["a"], "job": {"name": "child"}},
	{"name": "last", "finally": true, "http": {}}]}`

// world makes a good run, as the target and the API show it.
type world struct {
	judge.Evidence
	seq int64
}

func (w *world) now() int64 {
	w.seq++
	return w.seq
}

// called is a call of a step, which is over at once.
func (w *world) called(run, key, execution, out string, in map[string]string) {
	c := history.Call{
		Execution: execution, Attempt: 1, Answer: history.AnswerOK, Began: w.now(), Ended: w.now(),
		Step: &history.StepCall{Run: run, Key: key, Version: 7, Out: out, In: map[string]json.RawMessage{}},
	}
	for name, value := range in {
		c.Step.In[name] = json.RawMessage(value)
	}
	w.Calls = append(w.Calls, c)
}

func (w *world) row(run, key, id, status, reason string) {
	r := history.Row{
		ID: id, FireKey: "run:" + run + ":" + key, Status: status, Reason: reason, Attempt: 1, Trigger: "DEPENDENCY",
	}
	for i := range w.Runs {
		if w.Runs[i].ID == run {
			w.Runs[i].Steps = append(w.Runs[i].Steps, r)
		}
	}
}

// ran is a step that was called and succeeded.
func (w *world) ran(run, key string, in map[string]string) {
	id := run + "/" + key
	w.called(run, key, id, fmt.Sprintf(`{"v":"of %s","n":2,"list":["x","y","z"]}`, id), in)
	w.row(run, key, id, "SUCCESS", "")
}

func good(t *testing.T) *world {
	w := &world{}
	for id, text := range map[string]string{
		"F": definition, "G": `{"steps": [{"name": "s0", "http": {}}, {"name": "s1", "needs": ["s0"], "http": {}}]}`,
		"H": `{"steps": [{"name": "s0", "http": {}}, {"name": "s1", "needs": ["s0"], "http": {}}]}`,
	} {
		f := judge.Flow{ID: id, Name: "flow " + id, Definition: &wf.Definition{}, Whens: map[string]judge.When{}}
		require.NoError(t, json.Unmarshal([]byte(text), f.Definition))
		switch id {
		case "F":
			f.Whens["odd"] = judge.When{Step: "a", Above: 3}
		case "G":
			f.OneAtATime = true
		}
		w.Flows = append(w.Flows, f)
	}
	root := func(flow, id string) {
		w.Runs = append(w.Runs, judge.Run{
			ID: id, Flow: flow, Version: 3, Phase: "CLOSED",
			Root: history.Row{ID: id, Status: "SUCCESS", CreateTime: time.Now()},
		})
	}
	root("F", "r")
	root("G", "r/below")
	root("G", "g2")
	read := func(step string) map[string]string { return map[string]string{step: fmt.Sprintf("%q", "of r/"+step)} }
	w.ran("r", "a", nil)
	w.ran("r", "quick", read("a"))
	w.row("r", "odd", "r/odd", "SKIPPED", "CONDITION")
	w.row("r", "each", "r/each", "SUCCESS", "")
	var outputs []string
	for i, item := range []string{"x", "y", "z"} {
		w.ran("r", fmt.Sprintf("each[%d]", i), map[string]string{"item": fmt.Sprintf("%q", item)})
		outputs = append(outputs, w.Calls[len(w.Calls)-1].Step.Out)
	}
	w.ran("r", "gather", map[string]string{"outputs": fmt.Sprintf("[%s,%s,%s]", outputs[0], outputs[1], outputs[2])})
	w.row("r", "below", "r/below", "SUCCESS", "")
	for _, run := range []string{"r/below", "g2"} {
		w.ran(run, "s0", map[string]string{"above": `"of r/a"`})
		w.ran(run, "s1", map[string]string{"s0": fmt.Sprintf(`"of %s/s0"`, run)})
	}
	w.row("r", "ask", "r/ask", "SUCCESS", "")
	b := judge.Ballot{ExecutionID: "r/ask", RunID: "r", Step: "ask", Status: "SUCCESS", Need: 2, OnTimeout: "FAIL"}
	for _, user := range []string{"ann", "bob"} {
		w.Votes = append(w.Votes, judge.Vote{
			Execution: "r/ask", User: user, Decision: "APPROVE", Sent: w.now(), Done: w.now(),
		})
		b.Votes = append(b.Votes, struct{ User, Decision string }{user, "APPROVE"})
	}
	w.Ballots = []judge.Ballot{b}
	w.ran("r", "b", nil)
	w.row("r", "no", "r/no", "SKIPPED", "UPSTREAM_SKIPPED")
	w.ran("r", "last", nil)
	w.retried()
	w.After = []history.Row{{ID: "after", StartedBy: "r", Status: "SUCCESS"}}
	w.Calls = append(w.Calls, history.Call{
		Execution: "after", Attempt: 1, Began: w.now(), Ended: w.now(), Answer: history.AnswerOK,
	})
	return w
}

// retried is a run whose second step failed, and its repetition.
func (w *world) retried() {
	for _, run := range []string{"h1", "h2"} {
		w.Runs = append(w.Runs, judge.Run{
			ID: run, Flow: "H", Version: 3, Phase: "CLOSED",
			Root: history.Row{ID: run, Status: "SUCCESS", CreateTime: time.Now()},
		})
	}
	w.Runs[3].Root.Status, w.Runs[3].Root.Reason = "FAILED", "STEP_FAILED"
	w.Runs[4].Root.RetryOf = "h1"
	w.ran("h1", "s0", nil)
	read := map[string]string{"s0": `"of h1/s0"`}
	w.ran("h1", "s1", read)
	w.call("h1/s1").Answer, w.step("h1/s1").Status = history.AnswerFailed, "FAILED"
	w.row("h2", "s0", "h2/s0", "SUCCESS", "REUSED")
	w.ran("h2", "s1", read)
	w.Asks = append(w.Asks, judge.Ask{Run: "h1", Verb: "retry", Made: "h2", Sent: w.now(), Done: w.now()})
}

func (w *world) call(execution string) *history.Call {
	return &w.Calls[slices.IndexFunc(w.Calls, func(c history.Call) bool { return c.Execution == execution })]
}

func (w *world) step(id string) *history.Row {
	for i := range w.Runs {
		for k := range w.Runs[i].Steps {
			if w.Runs[i].Steps[k].ID == id {
				return &w.Runs[i].Steps[k]
			}
		}
	}
	return nil
}

func (w *world) drop(id string) {
	for i := range w.Runs {
		w.Runs[i].Steps = slices.DeleteFunc(w.Runs[i].Steps, func(r history.Row) bool { return r.ID == id })
	}
	w.Calls = slices.DeleteFunc(w.Calls, func(c history.Call) bool { return c.Execution == id })
}

// again adds a call like another one, by another execution.
func (w *world) again(execution, by string) {
	c := *w.call(execution)
	c.Execution, c.Began, c.Ended = by, w.now(), w.now()
	w.Calls = append(w.Calls, c)
}

// swap lets a call begin and end when another one did.
func (w *world) swap(a, b string) {
	x, y := w.call(a), w.call(b)
	x.Began, x.Ended, y.Began, y.Ended = y.Began, y.Ended, x.Began, x.Ended
}

func (w *world) asked(verb, step string, at int64) {
	w.Asks = append(w.Asks, judge.Ask{Run: "r", Step: step, Verb: verb, Sent: at, Done: at})
}

func TestEachSeededViolationIsFound(t *testing.T) {
	require.Empty(t, judge.New(good(t).Evidence).Judge())
	convicted := map[string]bool{}
	for name, seed := range map[string]struct {
		rule string
		do   func(w *world)
	}{
		"a row twice": {judge.RuleOnce, func(w *world) { w.row("r", "b", "other", "SUCCESS", "") }},
		"an item twice": {judge.RuleOnce, func(w *world) {
			w.row("r", "each[1]", "other", "SUCCESS", "")
			w.again("r/each[1]", "other")
		}},
		"a call of an execution without a row": {judge.RuleOnce, func(w *world) { w.again("r/b", "nobody") }},
		"a call of a run that is not there":    {judge.RuleOnce, func(w *world) { w.call("r/b").Step.Run = "other" }},
		"a generation nobody asked for": {judge.RuleOnce, func(w *world) {
			w.row("r", "b~2", "r/b~2", "SUCCESS", "")
			w.again("r/b", "r/b~2")
		}},
		"a step that is none":   {judge.RuleOnce, func(w *world) { w.row("r", "ghost", "ghost", "SUCCESS", "") }},
		"begun before its need": {judge.RuleOrder, func(w *world) { w.swap("r/a", "r/each[0]") }},
		"begun while its need was under way": {judge.RuleOrder, func(w *world) {
			w.call("r/each[2]").Ended = w.call("r/gather").Began + 1
		}},
		"under ANY, begun before the first need": {judge.RuleOrder, func(w *world) { w.swap("r/a", "r/quick") }},
		"begun before the approval":              {judge.RuleOrder, func(w *world) { w.swap("r/b", "r/gather") }},
		"what runs last begun before another":    {judge.RuleOrder, func(w *world) { w.swap("r/b", "r/last") }},
		"within a workflow below":                {judge.RuleOrder, func(w *world) { w.swap("r/below/s0", "r/below/s1") }},
		"a step without an end":                  {judge.RuleLost, func(w *world) { w.drop("r/b") }},
		"a step that was to run and did not": {judge.RuleLost, func(w *world) {
			w.drop("r/b")
			w.row("r", "b", "r/b", "SKIPPED", "UPSTREAM_SKIPPED")
		}},
		"a success that the target did not see": {judge.RuleLost, func(w *world) {
			w.call("r/b").Answer = history.AnswerCut
		}},
		"a failure that the target did not see": {judge.RuleLost, func(w *world) { w.step("r/quick").Status = "FAILED" }},
		"a run that stays open":                 {judge.RuleLost, func(w *world) { w.Runs[0].Phase = "OPEN" }},
		"a repetition without effect":           {judge.RuleLost, func(w *world) { w.asked("repeat", "b", w.now()) }},
		"a step that was not to run": {judge.RuleFate, func(w *world) {
			w.drop("r/no")
			w.ran("r", "no", nil)
		}},
		"another reason": {judge.RuleFate, func(w *world) { w.step("r/no").Reason = "UPSTREAM_FAILED" }},
		"a condition that does not hold": {judge.RuleFate, func(w *world) {
			w.drop("r/odd")
			w.ran("r", "odd", nil)
		}},
		"skipped by a person who did not": {judge.RuleFate, func(w *world) { w.step("r/no").Reason = "OPERATOR" }},
		"stopped without a failure":       {judge.RuleFate, func(w *world) { w.step("r/no").Reason = "RUN_STOPPED" }},
		"cancelled by nobody":             {judge.RuleFate, func(w *world) { w.step("r/no").Reason = "RUN_CANCELLED" }},
		"a skipped step that ran":         {judge.RuleFate, func(w *world) { w.again("r/b", "r/no") }},
		"an item that is missing":         {judge.RuleItems, func(w *world) { w.drop("r/each[2]") }},
		"an item too many":                {judge.RuleItems, func(w *world) { w.ran("r", "each[3]", nil) }},
		"a success with too many failures": {judge.RuleItems, func(w *world) {
			for _, id := range []string{"r/each[0]", "r/each[1]"} {
				w.step(id).Status, w.call(id).Answer = "FAILED", history.AnswerFailed
			}
		}},
		"too many items at once": {judge.RuleItems, func(w *world) {
			w.call("r/each[0]").Ended, w.call("r/each[1]").Ended = w.now(), w.now()
		}},
		"a success with a failed step": {judge.RuleOutcome, func(w *world) {
			w.step("r/quick").Status, w.call("r/quick").Answer = "FAILED", history.AnswerFailed
		}},
		"a failure without one":      {judge.RuleOutcome, func(w *world) { w.Runs[0].Root.Status = "FAILED" }},
		"a cancel by nobody":         {judge.RuleOutcome, func(w *world) { w.Runs[0].Root.Status = "CANCELLED" }},
		"a time-out without a bound": {judge.RuleOutcome, func(w *world) { w.Runs[0].Root.Status = "TIMEOUT" }},
		"begun after the cancel": {judge.RuleStopped, func(w *world) {
			w.asked("cancel", "", w.call("r/each[0]").Began)
		}},
		"begun in a pause": {judge.RuleStopped, func(w *world) {
			w.asked("pause", "", w.call("r/each[0]").Began)
			w.asked("resume", "", w.call("r/gather").Ended)
		}},
		"begun after the end":  {judge.RuleClosed, func(w *world) { w.swap("after", "r/last") }},
		"live after the end":   {judge.RuleClosed, func(w *world) { w.step("r/no").Status = "RUNNING" }},
		"two runs at once":     {judge.RuleClosed, func(w *world) { w.swap("r/below/s1", "g2/s0") }},
		"read of nothing":      {judge.RuleData, func(w *world) { w.call("r/quick").Step.In["a"] = json.RawMessage(`"of r/b"`) }},
		"read of another item": {judge.RuleData, func(w *world) { w.call("r/each[1]").Step.In["item"] = json.RawMessage(`"x"`) }},
		"read of a former attempt": {judge.RuleData, func(w *world) {
			w.step("r/a").Attempt, w.call("r/a").Attempt = 2, 2
			w.call("r/a").Step.Out = `{"v": "of attempt 2", "n": 2, "list": ["x", "y", "z"]}`
		}},
		"results in another order": {judge.RuleData, func(w *world) {
			x, y := w.call("r/each[0]").Step, w.call("r/each[1]").Step
			x.Out, y.Out = y.Out, x.Out
		}},
		"parameters of another step": {judge.RuleData, func(w *world) {
			w.call("r/below/s0").Step.In["above"] = json.RawMessage(`""`)
		}},
		"another text":         {judge.RuleVersion, func(w *world) { w.call("r/b").Step.Version = 8 }},
		"too few who approve":  {judge.RuleApproval, func(w *world) { w.Ballots[0].Votes = w.Ballots[0].Votes[:1] }},
		"one who voted twice":  {judge.RuleApproval, func(w *world) { w.Ballots[0].Votes[0].User = "bob" }},
		"a vote that got lost": {judge.RuleApproval, func(w *world) { w.Votes[0].User = "eve" }},
		"rejected without a vote": {judge.RuleApproval, func(w *world) {
			w.Ballots[0].Status, w.Ballots[0].Reason = "FAILED", "REJECTED"
		}},
		"failed in time": {judge.RuleApproval, func(w *world) {
			w.Ballots[0].Status, w.Ballots[0].Reason, w.Ballots[0].OnTimeout = "FAILED", "TIMEOUT", "REJECT"
			w.Ballots[0].Votes = nil
			w.Votes = nil
		}},
		"a repetition nobody asked for": {judge.RuleRetry, func(w *world) { w.Asks = nil }},
		"a repetition that is lost":     {judge.RuleRetry, func(w *world) { w.Runs[4].Root.RetryOf = "" }},
		"kept although it had failed": {judge.RuleRetry, func(w *world) {
			w.drop("h2/s1")
			w.row("h2", "s1", "h2/s1", "SUCCESS", "REUSED")
		}},
		"done again although it had succeeded": {judge.RuleRetry, func(w *world) {
			w.drop("h2/s0")
			w.ran("h2", "s0", nil)
		}},
		"read of a repetition that was never made": {judge.RuleData, func(w *world) {
			w.call("h2/s1").Step.In["s0"] = json.RawMessage(`"of h2/s0"`)
		}},
		"a map that failed with what it tolerates": {judge.RuleAgain, func(w *world) {
			w.step("r/each").Status, w.step("r/each").Reason = "FAILED", "STEP_FAILED"
		}},
		"blocked where the ends skip it": {judge.RuleAgain, func(w *world) { w.step("r/no").Reason = "UPSTREAM_FAILED" }},
		"an outcome of no order":         {judge.RuleAgain, func(w *world) { w.Runs[2].Root.Status = "FAILED" }},
		"open in a run that is over":     {judge.RuleApproval, func(w *world) { w.Ballots[0].Status = "WAITING" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := good(t)
			seed.do(w)
			found := judge.New(w.Evidence).Judge()
			is := func(v history.Violation) bool { return v.Rule == seed.rule }
			require.True(t, slices.ContainsFunc(found, is), "%+v", found)
		})
		convicted[seed.rule] = true
	}
	for _, rule := range judge.Rules() {
		require.True(t, convicted[rule], rule)
	}
}

func TestWhatIsMetIsCounted(t *testing.T) {
	w := good(t)
	w.Asks = append(w.Asks, judge.Ask{Run: "r", Verb: "pause", Sent: w.now()}) // not acknowledged
	w.Edits, w.Deletes = 3, 2
	got := judge.New(w.Evidence).Count()
	require.Equal(t, []int{5, 5}, []int{got.Closed, got.Again})
	require.Equal(t, map[string]int{"SUCCESS": 4, "FAILED": 1}, got.Outcomes)
	// http: a, quick, gather, b, last; three items; two steps each of the two runs of G; two and one of H.
	require.Equal(t, map[string]int{
		"http": 15, "item": 3, "forEach": 1, "approval": 1, "child workflow": 1, "join ANY": 1, "when": 1, "finally": 1,
	}, got.Kinds)
	require.Equal(t, map[string]int{"retry": 1, "approve": 2, "edit": 3, "delete": 2}, got.Verbs)
	w.Runs[0].Phase, w.step("r/below").ID = "OPEN", "other"
	got = judge.New(w.Evidence).Count()
	require.Equal(t, []int{4, 4}, []int{got.Closed, got.Again})
	require.Equal(t, 1, got.Kinds["named job"])
}
