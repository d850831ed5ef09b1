package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// run is a run under test. Rows are stored at once.
type run struct {
	t     *testing.T
	g     *workflow.Graph
	state *wf.State
	now   time.Time
	last  workflow.Decision
}

func step(name string, change func(s *wf.Step), needs ...string) wf.Step {
	s := wf.Step{Name: name, Custom: &wf.Custom{JobClass: "noop"}}
	for _, n := range needs {
		s.Needs = append(s.Needs, wf.Need{Step: n})
	}
	if change != nil {
		change(&s)
	}
	return s
}

func on(words ...wf.Word) func(s *wf.Step) {
	return func(s *wf.Step) {
		for i := range s.Needs {
			s.Needs[i].On = words
		}
	}
}

func last(s *wf.Step) { s.Finally = true }

func begin(t *testing.T, mode wf.OnStepFailure, steps ...wf.Step) *run {
	t.Helper()
	d := &wf.Definition{Steps: steps, OnStepFailure: mode, HoldSec: 3600}
	g, err := workflow.NewGraph(d)
	require.NoError(t, err)
	return &run{t: t, g: g, state: wf.NewState(d, noon), now: noon}
}

// follow decides and stores, and says what was stored: +KEY is started, =KEY born final, !KEY ends a map.
func (r *run) follow(in workflow.Input) string {
	r.t.Helper()
	in.Now = r.now
	r.last = workflow.Decide(r.g, r.state, in)
	rows, state := r.last.Take(1000)
	r.state = state
	var out []string
	for _, row := range rows {
		switch row.Kind {
		case workflow.RowStart, workflow.RowMap:
			out = append(out, "+"+row.Key.String())
		case workflow.RowFinal, workflow.RowFinish:
			mark := map[workflow.RowKind]string{workflow.RowFinal: "=", workflow.RowFinish: "!"}[row.Kind]
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s%s %s %s", mark, row.Key, row.Status, row.Reason)))
		}
	}
	if r.last.Closes(rows) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("closed %s %s", r.last.Close.Status, r.last.Close.Reason)))
	}
	return strings.Join(out, ", ")
}

// end ends executions: "a SUCCESS", "b FAILED REJECTED".
func (r *run) end(ends ...string) string {
	r.t.Helper()
	var in workflow.Input
	for _, e := range ends {
		f := strings.Fields(e + " ")
		key, err := wf.ParseKey(f[0])
		require.NoError(r.t, err)
		end := workflow.End{Key: key, Status: entity.Status(f[1])}
		if len(f) > 2 {
			end.Reason = entity.Reason(f[2])
		}
		in.Ends = append(in.Ends, end)
	}
	return r.follow(in)
}

func (r *run) ask(step int, v workflow.Verb) string {
	r.t.Helper()
	return r.follow(workflow.Input{Verbs: []workflow.Asked{{Step: step, Verb: v}}})
}

func (r *run) command(c workflow.Command) string {
	r.t.Helper()
	return r.follow(workflow.Input{Command: c})
}

func (r *run) cancels() (out string) {
	for _, k := range r.last.Cancels {
		out += k.String() + " "
	}
	return strings.TrimSpace(out)
}

// A failed step that is held decides nothing but for other branches, and each word of a person goes on from it.
func TestAHeldStepWaitsForAPerson(t *testing.T) {
	held := func(t *testing.T) *run {
		r := begin(t, wf.Hold, step("a", nil), step("b", nil, "a"), step("c", nil), step("z", last))
		require.Equal(t, "+a, +c", r.follow(workflow.Input{}))
		require.Empty(t, r.end("a FAILED"))
		require.Equal(t, []int{0}, r.last.Held)
		require.Equal(t, noon.Add(time.Hour), r.last.Wake)
		require.Empty(t, r.end("c SUCCESS"), "steps that run last wait as well")
		require.Nil(t, r.last.Close)
		require.Equal(t, []workflow.Verb{workflow.Repeat, workflow.Skip, workflow.Succeed}, workflow.Verbs(r.state, 0))
		require.Empty(t, workflow.Verbs(r.state, 1))
		return r
	}
	t.Run("repeat", func(t *testing.T) {
		r := held(t)
		require.Equal(t, "+a~2", r.ask(0, workflow.Repeat))
		require.Empty(t, r.end("a FAILED"), "the end of the former generation")
		require.Equal(t, wf.FateLive, r.state.Steps[0].Fate)
		require.Empty(t, r.end("a~2 TIMEOUT"))
		require.Equal(t, []int{0}, r.last.Held, "it is held again")
		require.Equal(t, "+a~3", r.ask(0, workflow.Repeat))
		require.Equal(t, "+b", r.end("a~3 SUCCESS"))
		require.Equal(t, "+z", r.end("b SUCCESS"))
		require.Equal(t, "closed SUCCESS", r.end("z SUCCESS"))
	})
	t.Run("succeed", func(t *testing.T) {
		r := held(t)
		require.Equal(t, "=a~2 SUCCESS OPERATOR, +b", r.ask(0, workflow.Succeed))
		require.Empty(t, r.ask(0, workflow.Repeat), "its successors are decided")
	})
	t.Run("skip", func(t *testing.T) {
		r := held(t)
		require.Equal(t, "=a~2 SKIPPED OPERATOR, =b SKIPPED UPSTREAM_SKIPPED, +z", r.ask(0, workflow.Skip))
		require.Equal(t, "closed SUCCESS", r.end("z SUCCESS"))
	})
	t.Run("nobody comes", func(t *testing.T) {
		r := held(t)
		r.now = noon.Add(time.Hour - time.Millisecond)
		require.Empty(t, r.follow(workflow.Input{}))
		r.now = noon.Add(time.Hour)
		require.Equal(t, "=b SKIPPED UPSTREAM_FAILED, +z", r.follow(workflow.Input{}))
		require.Zero(t, r.last.Wake)
		require.Equal(t, "closed FAILED STEP_FAILED", r.end("z SUCCESS"))
	})
	t.Run("the run is cancelled", func(t *testing.T) {
		r := held(t)
		require.Equal(t, "=b SKIPPED RUN_CANCELLED, +z", r.command(workflow.Cancel))
		require.Empty(t, r.ask(0, workflow.Repeat))
		require.Equal(t, "closed CANCELLED", r.end("z FAILED"))
	})
	t.Run("while the run is paused", func(t *testing.T) {
		r := held(t)
		require.Empty(t, r.command(workflow.Pause))
		r.now = noon.Add(2 * time.Hour)
		require.Empty(t, r.follow(workflow.Input{}), "a paused run decides nothing")
		require.Empty(t, r.ask(0, workflow.Repeat))
		require.Equal(t, "+a~2", r.command(workflow.Resume))
	})
}

// Failures that an edge asks for, tolerated ones, rejected approvals and those of last steps hold nothing.
func TestWhichFailuresAreHeld(t *testing.T) {
	tolerate := func(s *wf.Step) { s.Tolerate = true }
	for name, c := range map[string]struct {
		steps []wf.Step
		end   string
		want  string
	}{
		"nobody asks":     {[]wf.Step{step("a", nil)}, "a FAILED", "held"},
		"a cancelled one": {[]wf.Step{step("a", nil)}, "a CANCELLED", "held"},
		"missed":          {[]wf.Step{step("a", nil)}, "a SKIPPED DEADLINE", "held"},
		"tolerated":       {[]wf.Step{step("a", tolerate)}, "a FAILED", "closed SUCCESS"},
		"rejected":        {[]wf.Step{step("a", nil)}, "a FAILED REJECTED", "closed FAILED STEP_FAILED"},
		"an edge asks":    {[]wf.Step{step("a", nil), step("b", on("failure"), "a")}, "a FAILED", "+b"},
		"done asks":       {[]wf.Step{step("a", nil), step("b", on("done"), "a")}, "a FAILED", "+b"},
		"blocked asks":    {[]wf.Step{step("a", nil), step("b", on("blocked"), "a")}, "a FAILED", "held"},
		"a last step":     {[]wf.Step{step("a", last)}, "a FAILED", "closed FAILED FINALLY_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, wf.Hold, c.steps...)
			r.follow(workflow.Input{})
			got := r.end(c.end)
			if len(r.last.Held) > 0 {
				got = "held"
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A failure that no edge asks for stops the run: live steps are asked to stop, and last steps still run.
func TestAFailureStopsTheRun(t *testing.T) {
	r := begin(t, wf.Stop, step("a", nil), step("b", nil), step("c", nil, "b"), step("z", last))
	require.Equal(t, "+a, +b", r.follow(workflow.Input{}))
	require.Equal(t, "=c SKIPPED RUN_STOPPED", r.end("a FAILED"))
	require.Equal(t, "b", r.cancels())
	require.Equal(t, "+z", r.end("b SUCCESS"), "it ended before it could be stopped")
	require.Equal(t, "closed FAILED STEP_FAILED", r.end("z SUCCESS"))

	r = begin(t, wf.Stop, step("a", nil), step("undo", on("failure"), "a"), step("c", nil))
	r.follow(workflow.Input{})
	require.Equal(t, "+undo", r.end("a FAILED"), "an edge asks for it")
	require.Empty(t, r.cancels())

	r = begin(t, wf.Stop, step("a", func(s *wf.Step) { s.Tolerate = true }), step("c", nil))
	r.follow(workflow.Input{})
	require.Empty(t, r.end("a FAILED"))
	require.Empty(t, r.cancels(), "it is tolerated")

	// What cannot be started stops the run, and what was to start with it does not.
	r = begin(t, wf.Stop, step("b", nil), step("a", func(s *wf.Step) { s.When = "x" }))
	require.Equal(t, "=b SKIPPED RUN_STOPPED, =a FAILED INVALID, closed FAILED STEP_FAILED",
		r.follow(workflow.Input{Values: map[int]workflow.Value{1: {Wrong: "no x"}}}))
}

// A cancelled run ends what waits and stops what lives; last steps run, but not for a workflow that is gone.
func TestCancelAndDelete(t *testing.T) {
	steps := []wf.Step{step("a", nil), step("b", nil, "a"), step("z", last), step("y", last)}
	r := begin(t, wf.GoOn, steps...)
	r.follow(workflow.Input{})
	require.Equal(t, "=b SKIPPED RUN_CANCELLED", r.command(workflow.Cancel))
	require.Equal(t, "a", r.cancels())
	require.Equal(t, "+z, +y", r.end("a CANCELLED"))
	require.Empty(t, r.command(workflow.Cancel))
	require.Empty(t, r.cancels(), "last steps are not stopped")
	require.Empty(t, r.end("z SUCCESS"))
	require.Empty(t, r.command(workflow.Delete))
	require.Equal(t, "y", r.cancels())
	require.Equal(t, "closed CANCELLED DELETED", r.end("y CANCELLED"))
	r.state = workflow.Close(r.state)
	require.Empty(t, r.end("y SUCCESS"))
	require.Nil(t, r.last.Close, "a closed run decides nothing")

	r = begin(t, wf.GoOn, steps...)
	r.follow(workflow.Input{})
	require.Equal(t, "=b SKIPPED RUN_CANCELLED, =z SKIPPED RUN_CANCELLED, =y SKIPPED RUN_CANCELLED",
		r.command(workflow.Delete))

	r = begin(t, wf.GoOn, step("a", nil))
	r.follow(workflow.Input{})
	require.Equal(t, "closed SUCCESS", r.end("a SUCCESS"))
	require.Equal(t, "closed SUCCESS", r.command(workflow.Cancel), "it had ended")
}

// The time-out of the run counts from its opening, also while it is paused, and is the outcome.
func TestARunThatTakesTooLongIsStopped(t *testing.T) {
	for _, paused := range []bool{false, true} {
		d := &wf.Definition{Steps: []wf.Step{step("a", nil), step("b", nil, "a"), step("z", last)}, TimeoutSec: 60}
		g, err := workflow.NewGraph(d)
		require.NoError(t, err)
		r := &run{t: t, g: g, state: wf.NewState(d, noon), now: noon}
		r.follow(workflow.Input{})
		require.Equal(t, noon.Add(time.Minute), r.last.Wake)
		if paused {
			r.command(workflow.Pause)
			require.Equal(t, noon.Add(time.Minute), r.last.Wake)
		}
		r.now = noon.Add(time.Minute)
		require.Equal(t, "=b SKIPPED RUN_CANCELLED", r.follow(workflow.Input{}))
		require.Equal(t, "a", r.cancels())
		require.Zero(t, r.last.Wake)
		r.end("a CANCELLED")
		require.Equal(t, "closed TIMEOUT TIMEOUT", r.end("z SUCCESS"))
	}
}

// A paused run records ends, and decides them when it goes on.
func TestAPausedRunDecidesNothing(t *testing.T) {
	r := begin(t, wf.GoOn, step("a", nil), step("b", nil, "a"))
	r.follow(workflow.Input{})
	require.Empty(t, r.command(workflow.Pause))
	require.Empty(t, r.end("a SUCCESS"))
	require.Empty(t, r.command(workflow.Pause))
	require.Equal(t, "+b", r.command(workflow.Resume))
	r.command(workflow.Pause)
	require.Empty(t, r.command(workflow.Cancel))
	require.Equal(t, "b", r.cancels(), "a paused run can be cancelled")
}

// Conditions and lists are asked for when the needs are met, and a wrong one fails its step alone.
func TestAsks(t *testing.T) {
	r := begin(t, wf.GoOn,
		step("a", nil),
		step("b", func(s *wf.Step) { s.When = "x" }, "a"),
		step("c", func(s *wf.Step) { s.ForEach = &wf.ForEach{MaxItems: 5} }, "a"),
		step("d", nil, "b"))
	require.Equal(t, "+a", r.follow(workflow.Input{}))
	require.Empty(t, r.last.Asks)
	require.Empty(t, r.end("a SUCCESS"))
	require.Equal(t, []workflow.Ask{{Step: 1, When: true}, {Step: 2, Items: true}}, r.last.Asks)
	require.Equal(t, "=b SKIPPED CONDITION, =d SKIPPED UPSTREAM_SKIPPED",
		r.follow(workflow.Input{Values: map[int]workflow.Value{1: {Holds: false}}}))
	require.Equal(t, []workflow.Ask{{Step: 2, Items: true}}, r.last.Asks)

	// The message of a row that was not stored is asked for again.
	in := workflow.Input{Now: noon, Values: map[int]workflow.Value{2: {Items: 6}}}
	d := workflow.Decide(r.g, r.state, in)
	require.Equal(t, "forEach.items has 6 items, and maxItems is 5", d.Rows[0].Message)
	_, r.state = d.Take(0)
	d = workflow.Decide(r.g, r.state, workflow.Input{Now: noon})
	require.Empty(t, d.Rows)
	require.Equal(t, []workflow.Ask{{Step: 2, Items: true}}, d.Asks)
	require.Equal(t, "=c FAILED INVALID, closed FAILED STEP_FAILED", r.follow(in))

	r = begin(t, wf.GoOn, step("c", func(s *wf.Step) { s.ForEach = &wf.ForEach{} }))
	require.Equal(t, "=c SUCCESS, closed SUCCESS", r.follow(workflow.Input{Values: map[int]workflow.Value{0: {}}}),
		"an empty list")
}

// Items run in a window; what fails too often starts no more, and a repetition takes up what is missing.
func TestItems(t *testing.T) {
	r := begin(t, wf.Hold, step("m", func(s *wf.Step) { s.ForEach = &wf.ForEach{MaxParallel: 2} }))
	require.Equal(t, "+m, +m[0], +m[1]", r.follow(workflow.Input{Values: map[int]workflow.Value{0: {Items: 5}}}))
	require.Equal(t, "+m[2]", r.end("m[1] SUCCESS", "m[1] SUCCESS"))
	require.Empty(t, r.end("m[0] FAILED"), "one failed, and none is tolerated")
	require.Equal(t, workflow.Counts{Total: 5, Live: 1, Succeeded: 1, Failed: 1, NotRun: 2},
		workflow.CountsOf(r.state.Steps[0].Items))
	d := workflow.Decide(r.g, r.state, workflow.Input{Now: noon, Ends: []workflow.End{
		{Key: wf.Key{Name: "m", Item: 2, Generation: 1}, Status: entity.StatusSuccess},
	}})
	require.True(t, d.State.Steps[0].Held())
	require.Empty(t, workflow.Verbs(d.State, 0), "its row has not ended yet")
	require.Equal(t, "!m FAILED STEP_FAILED", r.end("m[2] SUCCESS"))
	require.Equal(t, "+m~2, +m[0]~2, +m[3]~2", r.ask(0, workflow.Repeat))
	require.Equal(t, "+m[4]~2", r.end("m[3]~2 SUCCESS", "m[2] FAILED"))
	require.Equal(t, "!m~2 SUCCESS, closed SUCCESS", r.end("m[0]~2 SUCCESS", "m[4]~2 SUCCESS"))

	r = begin(t, wf.GoOn, step("m", func(s *wf.Step) { s.ForEach = &wf.ForEach{MaxParallel: 2} }))
	r.follow(workflow.Input{Values: map[int]workflow.Value{0: {Items: 5}}})
	require.Empty(t, r.ask(0, workflow.CancelItems))
	require.Equal(t, "m[0] m[1]", r.cancels())
	require.Empty(t, r.end("m[0] SUCCESS"))
	require.Equal(t, "!m CANCELLED OPERATOR, closed FAILED STEP_FAILED", r.end("m[1] SUCCESS"))

	r = begin(t, wf.Hold, step("m", func(s *wf.Step) { s.ForEach = &wf.ForEach{MaxParallel: 2} }))
	in := workflow.Input{Now: noon, Values: map[int]workflow.Value{0: {Items: 5}}}
	d = workflow.Decide(r.g, r.state, in)
	require.Len(t, d.Rows, 3)
	require.Equal(t, "=m SKIPPED RUN_CANCELLED, closed CANCELLED", (&run{t: t, g: r.g, state: d.State, now: noon}).command(
		workflow.Cancel), "a map that was decided and not stored")
	r.follow(in)
	require.Empty(t, r.command(workflow.Cancel))
	require.Equal(t, "!m CANCELLED RUN_CANCELLED, closed CANCELLED", r.end("m[0] CANCELLED", "m[1] CANCELLED"))
}

// A new run of what failed begins with the results of the former one.
func TestReusedStepsAreNotRepeated(t *testing.T) {
	r := begin(t, wf.GoOn, step("a", nil), step("b", nil, "a"))
	r.state.Keep(0, wf.FateReused, nil)
	require.Equal(t, "+b", r.follow(workflow.Input{}))
}

// Approvals and waits say when they end by themselves.
func TestWakeOfWaitingSteps(t *testing.T) {
	r := begin(t, wf.GoOn,
		wf.Step{Name: "a", Approval: &wf.Approval{TimeoutSec: 60}}, wf.Step{Name: "b", Approval: &wf.Approval{}},
		wf.Step{Name: "c", Wait: &wf.Wait{ForSec: 5}}, wf.Step{Name: "d", Wait: &wf.Wait{Until: "${params.at}"}})
	d := workflow.Decide(r.g, r.state, workflow.Input{Now: noon})
	week := noon.Add(wf.DefaultApprovalSec * time.Second)
	want := []time.Time{noon.Add(time.Minute), week, noon.Add(5 * time.Second), {}}
	for i, row := range d.Rows {
		require.Equal(t, want[i], row.Until, row.Key)
	}
}

// Definitions that no validation let pass are refused.
func TestAGraphIsSound(t *testing.T) {
	for want, steps := range map[string][]wf.Step{
		"1 to 200":        nil,
		"two steps":       {step("a", nil), step("a", nil)},
		"circle":          {step("a", nil, "b"), step("b", nil, "a")},
		"cannot need a":   {step("a", last), step("b", nil, "a")},
		"cannot need c":   {step("a", nil), step("b", nil, "c")},
		"b cannot need a": {step("a", nil), step("b", last, "a")},
	} {
		_, err := workflow.NewGraph(&wf.Definition{Steps: steps})
		require.ErrorContains(t, err, want)
	}
}
