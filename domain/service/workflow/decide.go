package workflow

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// End is the end of an execution of a step: of all its shards, where it has several (entity.Fold).
type End struct {
	Key    wf.Key
	Status entity.Status
	Reason entity.Reason
}

// Verb is what a person asks of one step.
type Verb string

// The verbs. Repeat, Skip and Succeed are for a step that is held, CancelItems for a map that is live. To cancel any
// other live step, or to skip a waiting one, is an end of its execution.
const (
	Repeat      Verb = "REPEAT"
	Skip        Verb = "SKIP"
	Succeed     Verb = "SUCCEED"
	CancelItems Verb = "CANCEL"
)

// Asked is a verb on a step.
type Asked struct {
	Step int
	Verb Verb
}

// Command is what somebody asks of the whole run.
type Command string

// The commands.
const (
	Pause  Command = "PAUSE"
	Resume Command = "RESUME"
	Cancel Command = "CANCEL"
	// Delete: the workflow is gone, so that not even its last steps run.
	Delete Command = "DELETE"
)

// Value is what the condition and the list of a step came to.
type Value struct {
	// Holds is the answer of the condition; Items the length of the list.
	Holds bool
	Items int
	// Wrong says why one of both cannot be evaluated.
	Wrong string
}

// Input is what has happened since the state was stored. Ends may come in any order, and more than once.
type Input struct {
	Now     time.Time
	Ends    []End
	Verbs   []Asked
	Command Command
	// Values are those of steps that a former decision asked for.
	Values map[int]Value
}

// Ask names a step whose needs are met, and whose condition or list decides what becomes of it.
type Ask struct {
	Step int
	// When and Items say which of both is to be evaluated.
	When, Items bool
}

// Decision is what follows from an input. It is whole: whatever the caller does not store now, the next decision lists
// again.
type Decision struct {
	// State is to be stored with the rows; see Take.
	State *wf.State
	// Rows are all that are decided and not stored yet.
	Rows []Row
	// Held are steps that wait for a person since this decision.
	Held []int
	// Cancels are live executions to be stopped, as long as they are live.
	Cancels []wf.Key
	// Asks are to be answered by Values of another decision.
	Asks []Ask
	// Wake is the next moment at which something follows from the time alone; zero is never.
	Wake time.Time
	// Close is set when every step is final. The run is closed when its rows are stored, too.
	Close *Outcome
}

// Decide says what follows from an input. It changes neither the state nor the input. The state must fit the graph.
func Decide(g *Graph, state *wf.State, in Input) Decision {
	d := &decider{g: g, s: state.Clone(), in: in}
	if d.s.Phase == wf.PhaseClosed {
		return Decision{State: d.s}
	}
	for i := range in.Ends {
		d.record(&in.Ends[i])
	}
	for _, v := range in.Verbs {
		d.verb(v)
	}
	d.command()
	d.time()
	if d.s.Phase == wf.PhasePaused {
		return Decision{State: d.s, Held: d.held, Wake: d.wake()}
	}
	d.decide()
	rows := d.rows()
	// A step may have been dropped after it was asked for.
	asks := slices.DeleteFunc(d.asks, func(a Ask) bool {
		fate := d.s.Steps[a.Step].Fate
		return fate != wf.FateOpen && fate != wf.FateInvalid
	})
	return Decision{
		State: d.s, Rows: rows, Held: d.held, Cancels: d.cancels(), Asks: asks, Wake: d.wake(), Close: d.outcome(),
	}
}

// decider makes one decision.
type decider struct {
	g    *Graph
	s    *wf.State
	in   Input
	held []int
	asks []Ask
	// asked are the steps in asks.
	asked map[int]bool
}

func (d *decider) step(i int) *wf.Step { return &d.g.def.Steps[i] }

// decide goes over all steps, each after its needs, until nothing more follows.
func (d *decider) decide() {
	for {
		if d.s.Phase == wf.PhaseOpen && d.g.def.OnStepFailure == wf.Stop && d.alarm() {
			d.s.Phase, d.s.Cause = wf.PhaseCancelling, wf.CauseStopped
		}
		phase := d.s.Phase
		if phase == wf.PhaseCancelling {
			d.drop(d.g.order)
			if d.s.Cause == wf.CauseDeleted {
				d.drop(d.g.last)
			}
		}
		d.pass(d.g.order)
		if d.decided(d.g.order) {
			d.pass(d.g.last)
		}
		// A step that failed in this pass may stop the run.
		if phase == wf.PhaseCancelling || d.g.def.OnStepFailure != wf.Stop || !d.alarm() {
			return
		}
	}
}

// alarm reports whether a step failed so that the run is to be stopped.
func (d *decider) alarm() bool {
	for _, i := range d.g.order {
		if d.s.Steps[i].Fate.Class() == wf.ClassFailure && d.g.alarming(i) {
			return true
		}
	}
	return false
}

func (d *decider) decided(steps []int) bool {
	for _, i := range steps {
		if !d.s.Steps[i].Decided() {
			return false
		}
	}
	return true
}

func (d *decider) pass(steps []int) {
	for _, i := range steps {
		s := &d.s.Steps[i]
		if s.Fate == wf.FateOpen {
			d.open(i)
		}
		if s.Fate == wf.FateLive && s.Items != nil {
			d.window(i)
		}
	}
}

// open decides a step of which nothing is decided, if it can be.
func (d *decider) open(i int) {
	switch d.rule(i) {
	case met:
		d.start(i)
	case blocked:
		d.end(i, wf.FateUpstreamFailed, true)
	case skipped:
		d.end(i, wf.FateUpstreamSkipped, true)
	case undecided:
	}
}

// start decides a step whose needs are met.
func (d *decider) start(i int) {
	step, s := d.step(i), &d.s.Steps[i]
	ask := Ask{Step: i, When: step.When != "", Items: step.ForEach != nil && s.Items == nil}
	v, answered := d.in.Values[i]
	if (ask.When || ask.Items) && !answered {
		d.ask(ask)
		return
	}
	switch {
	case v.Wrong != "":
		d.end(i, wf.FateInvalid, true)
		return
	case ask.When && !v.Holds:
		d.end(i, wf.FateCondition, true)
		return
	case ask.Items && wrongItems(step, v) != "":
		d.end(i, wf.FateInvalid, true)
		return
	case ask.Items && v.Items == 0:
		d.end(i, wf.FateEmpty, true)
		return
	case ask.Items:
		s.Items = wf.NewItems(v.Items)
	case s.Items != nil:
		s.Items.Repeat()
	}
	s.Fate, s.Owed = wf.FateLive, true
}

func (d *decider) ask(a Ask) {
	if d.asked[a.Step] {
		return
	}
	if d.asked == nil {
		d.asked = map[int]bool{}
	}
	d.asked[a.Step] = true
	d.asks = append(d.asks, a)
}

// end gives a step a final fate. owed: its row is still to be stored.
func (d *decider) end(i int, fate wf.Fate, owed bool) {
	s := &d.s.Steps[i]
	s.Fate, s.Owed = fate, owed
	if d.g.def.OnStepFailure == wf.Hold && d.s.Phase != wf.PhaseCancelling && fate.Class() == wf.ClassFailure &&
		fate != wf.FateRejected && d.g.alarming(i) {
		s.HeldUntil = d.in.Now.Add(time.Duration(d.g.def.HoldFor()) * time.Second).UTC().Truncate(time.Millisecond)
		d.held = append(d.held, i)
	}
}

// record takes the end of an execution. An end that was taken before, or is of no live execution, changes nothing.
func (d *decider) record(e *End) {
	i, known := d.g.byName[e.Key.Name]
	if !known || !e.Status.Final() || e.Status == "" {
		return
	}
	s := &d.s.Steps[i]
	if s.Fate != wf.FateLive || s.Generation != e.Key.Generation {
		return
	}
	fate := wf.FateOf(e.Status, e.Reason)
	if s.Items == nil {
		if e.Key.Item == wf.Whole && !s.Owed {
			d.end(i, fate, false)
		}
		return
	}
	if item := e.Key.Item; item >= 0 && item < s.Items.Inserted && !s.Items.Final.Has(item) {
		s.Items.Final.Add(item)
		if fate.Class() != wf.ClassSuccess {
			s.Items.Failed.Add(item)
		}
	}
}
