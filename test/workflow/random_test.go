package workflow_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	check "github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// somewhere draws a definition with every kind of edge, and the lengths of its lists.
func somewhere(r *rand.Rand) (def *wf.Definition, items map[string]int) {
	def, items = &wf.Definition{OnStepFailure: wf.GoOn}, map[string]int{}
	if r.IntN(3) == 0 {
		def.OnStepFailure = wf.Hold
	}
	for i := range 1 + r.IntN(12) {
		s := wf.Step{Name: name(i), Wait: &wf.Wait{ForSec: 1}, Tolerate: r.IntN(6) == 0}
		s.Finally = i > 2 && r.IntN(8) == 0
		for k := range i {
			if s.Finally || def.Steps[k].Finally || r.IntN(3) > 0 {
				continue
			}
			need := wf.Need{Step: name(k)}
			if r.IntN(2) == 0 {
				need.On = []wf.Word{}
				for range 1 + r.IntN(2) {
					need.On = append(need.On, wf.Word(wf.Words()[r.IntN(len(wf.Words()))]))
				}
			}
			s.Needs = append(s.Needs, need)
		}
		if len(s.Needs) > 0 && r.IntN(3) == 0 {
			s.Join = wf.JoinAny
		} else if len(s.Needs) > 0 {
			s.MinSuccess = r.IntN(3) % (len(s.Needs) + 1)
		}
		if r.IntN(4) == 0 {
			s.When = "params.x"
		}
		if r.IntN(4) == 0 {
			s.ForEach = &wf.ForEach{MaxParallel: 1 + r.IntN(4)}
			items[s.Name] = r.IntN(12)
			switch r.IntN(3) {
			case 0:
				s.ForEach.Tolerate = &wf.Tolerate{Count: r.IntN(4)}
			case 1:
				s.ForEach.Tolerate = &wf.Tolerate{Percent: 1 + r.IntN(99)}
			}
		}
		def.Steps = append(def.Steps, s)
	}
	// The order in the document means nothing.
	r.Shuffle(len(def.Steps), func(i, k int) { def.Steps[i], def.Steps[k] = def.Steps[k], def.Steps[i] })
	return def, items
}

// outcomes are what each key comes to, by its name alone.
func outcomes(seed uint64) func(key string) check.Fate {
	return func(key string) check.Fate {
		h := fnv.New64a()
		_, _ = h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
		_, _ = h.Write([]byte(key))
		return []check.Fate{check.Success, check.Success, check.Failure, check.Skipped}[h.Sum64()>>20%4]
	}
}

const graphsAtRandom = 1500

// However ends are shuffled, doubled and cut into batches, and rows into pieces, a run ends in the same way, and breaks
// no invariant.
func TestADisturbedRunEndsTheSame(t *testing.T) {
	for seed := range uint64(graphsAtRandom) {
		def, items := somewhere(rand.New(rand.NewPCG(seed, 1)))
		var want map[string]check.Fate
		for other := range uint64(3) {
			d := newRun(t, def, outcomes(seed), items)
			d.disturbed(rand.New(rand.NewPCG(seed, 2+other)), false)
			if found := d.check(); len(found) > 0 {
				t.Fatalf("seed %d: %v", seed, found)
			}
			if other == 0 {
				want = d.fates()
			}
			require.Equal(t, want, d.fates(), seed)
		}
	}
}

// A run that is stopped, by a person or a failure, breaks no invariant either.
func TestAStoppedRunBreaksNoInvariant(t *testing.T) {
	for seed := range uint64(graphsAtRandom) {
		def, items := somewhere(rand.New(rand.NewPCG(seed, 1)))
		if seed%2 == 0 {
			def.OnStepFailure = wf.Stop
		}
		d := newRun(t, def, outcomes(seed), items)
		d.disturbed(rand.New(rand.NewPCG(seed, 5)), true)
		if found := d.check(); len(found) > 0 {
			t.Fatalf("seed %d: %v", seed, found)
		}
	}
}

// The same input twice is the same decision, and a decision without an input changes nothing.
func TestADecisionIsAFunction(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		def, items := somewhere(r)
		d := newRun(t, def, outcomes(seed), items)
		for range 3 {
			var in workflow.Input
			for len(d.Live) > 0 && r.IntN(2) == 0 {
				in.Ends = append(in.Ends, d.Finish(r.IntN(len(d.Live))))
			}
			before := d.State.Encode()
			in.Now = d.Now
			one, other := workflow.Decide(d.Graph, d.State, in), workflow.Decide(d.Graph, d.State, in)
			require.Equal(t, one, other)
			require.Equal(t, before, d.State.Encode(), "the state that was handed in")
			again := workflow.Decide(d.Graph, one.State, workflow.Input{Now: d.Now})
			require.Equal(t, one.State, again.State)
			require.Equal(t, one.Rows, again.Rows)
			d.follow(in, 3)
		}
	}
}

// No state that can be read, and no end, makes a decision panic.
func FuzzDecide(f *testing.F) {
	def, _ := somewhere(rand.New(rand.NewPCG(7, 1)))
	g, err := workflow.NewGraph(def)
	require.NoError(f, err)
	f.Add(wf.NewState(def, noon).Encode(), "s0", "SUCCESS")
	for seed := range uint64(20) {
		d := newRun(f, def, outcomes(seed), map[string]int{"s0": 3, "s1": 9, "s2": 4})
		d.follow(workflow.Input{}, int(seed))
		f.Add(d.State.Encode(), "s1[2]", "FAILED")
	}
	f.Fuzz(func(t *testing.T, stored []byte, key, status string) {
		state, err := wf.Decode(stored)
		if err != nil || !state.Fits(def) {
			return
		}
		k, _ := wf.ParseKey(key)
		in := workflow.Input{
			Now: noon, Ends: []workflow.End{{Key: k, Status: entity.Status(status)}},
			Values: map[int]workflow.Value{0: {Holds: true, Items: 3}},
			Verbs:  []workflow.Asked{{Step: 0, Verb: workflow.Repeat}},
		}
		for _, c := range []workflow.Command{"", workflow.Pause, workflow.Resume, workflow.Cancel, workflow.Delete} {
			in.Command = c
			d := workflow.Decide(g, state, in)
			_, next := d.Take(2)
			again, err := wf.Decode(next.Encode())
			require.NoError(t, err)
			require.Equal(t, next, again)
		}
	})
}

// The checker finds each kind of damage to a sound run.
func TestSeededViolationsAreFound(t *testing.T) {
	def := &wf.Definition{Steps: []wf.Step{
		{Name: "a", Wait: &wf.Wait{ForSec: 1}},
		{Name: "b", Needs: []wf.Need{{Step: "a"}}, ForEach: &wf.ForEach{MaxParallel: 2}, Wait: &wf.Wait{ForSec: 1}},
		{Name: "c", Needs: []wf.Need{{Step: "a", On: []wf.Word{"failure"}}}, Wait: &wf.Wait{ForSec: 1}},
		{Name: "z", Finally: true, Wait: &wf.Wait{ForSec: 1}},
	}}
	d := newRun(t, def, func(string) check.Fate { return check.Success }, map[string]int{"b": 3})
	d.inOrder()
	require.Empty(t, d.check())
	at := func(what, key string) int {
		return slices.IndexFunc(d.events, func(e check.Event) bool { return e.What == what && e.Key == key })
	}
	drop := func(what, key string) func([]check.Event) []check.Event {
		return func(e []check.Event) []check.Event { i := at(what, key); return slices.Delete(e, i, i+1) }
	}
	twice := func(what, key string) func([]check.Event) []check.Event {
		return func(e []check.Event) []check.Event { i := at(what, key); return slices.Insert(e, i, e[i]) }
	}
	change := func(what, key, status, reason string) func([]check.Event) []check.Event {
		return func(e []check.Event) []check.Event {
			e[at(what, key)] = check.Event{What: what, Key: key, Status: status, Reason: reason}
			return e
		}
	}
	front := func(what, key string) func([]check.Event) []check.Event {
		return func(e []check.Event) []check.Event {
			i := at(what, key)
			moved := e[i]
			return slices.Insert(slices.Delete(e, i, i+1), 0, moved)
		}
	}
	for name, c := range map[string]struct {
		change func([]check.Event) []check.Event
		want   string
	}{
		"a step twice":               {twice("START", "a"), "I9.1"},
		"an end twice":               {twice("END", "a"), "I9.1"},
		"a step before its need":     {front("MAP", "b"), "I9.2"},
		"a last step too early":      {front("START", "z"), "I9.2"},
		"a lost edge":                {change("END", "b", "SKIPPED", "UPSTREAM_FAILED"), "I9.3"},
		"no end of a step":           {drop("END", "c"), "I9.3"},
		"no close":                   {drop("CLOSE", ""), "I9.3"},
		"another reason":             {change("END", "c", "SKIPPED", "UPSTREAM_FAILED"), "I9.4"},
		"a step that was not to run": {change("END", "c", "SUCCESS", ""), "I9.4"},
		"an item too few": {func(e []check.Event) []check.Event {
			return drop("END", "b[1]")(drop("START", "b[1]")(e))
		}, "I9.5"},
		"an item too many": {func(e []check.Event) []check.Event {
			one := check.Event{What: "START", Key: "b[3]"}
			return slices.Insert(e, at("START", "b[1]"), one, check.Event{What: "END", Key: "b[3]"})
		}, "I9.5"},
		"a window too wide": {func(e []check.Event) []check.Event {
			i := at("START", "b[2]")
			moved := e[i]
			return slices.Insert(slices.Delete(e, i, i+1), at("START", "b[1]"), moved)
		}, "I9.5"},
		"a good map that failed": {change("END", "b", "FAILED", "STEP_FAILED"), "I9.5"},
		"another outcome":        {change("CLOSE", "", "FAILED", "STEP_FAILED"), "I9.6"},
		"a start after the stop": {func(e []check.Event) []check.Event {
			return slices.Insert(e, 0, check.Event{What: "STOP"})
		}, "I9.7"},
		"a live item at the close": {drop("END", "b[2]"), "I9.8"},
	} {
		found := check.Check(check.Run{Definition: def, Items: d.items, Events: c.change(slices.Clone(d.events))})
		require.True(t, slices.ContainsFunc(found, func(f string) bool { return f[:4] == c.want }), "%s: %v", name, found)
	}
}
