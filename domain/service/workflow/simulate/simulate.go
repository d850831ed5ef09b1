package simulate

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Run is how a simulated run ended.
type Run struct {
	Outcome workflow.Outcome
	// Steps are those of the definition, in its order.
	Steps []Step
}

// Step is what became of a step.
type Step struct {
	Name   string
	Status entity.Status
	Reason entity.Reason
	Class  wf.Class
	// Position counts the steps in the order in which they became final, from 1.
	Position int
	// Why says it in words.
	Why string
	// Counts are those of a map that was started.
	Counts *workflow.Counts
}

// First plays the run in which each time the first live step of the definition ends.
func First(g *workflow.Graph, p Plan, c workflow.Conditions) (Run, error) {
	return play(g, p, c, func([]wf.Key) int { return 0 })
}

// Random plays a run in which a live execution ends that is drawn by lot. The same seed gives the same run.
func Random(g *workflow.Graph, p Plan, c workflow.Conditions, seed uint64) (Run, error) {
	lot := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // it is to be repeatable
	return play(g, p, c, func(live []wf.Key) int { return lot.IntN(len(live)) })
}

// MaxStates bounds the states of a run that All looks at.
const MaxStates = 20_000

// Endings are the different ends of a run.
type Endings struct {
	Runs []Run
	// States counts what was looked at; Whole is false where there are more than MaxStates.
	States int
	Whole  bool
}

// All plays all orders in which live executions may end. It goes into the depth, so that it keeps one run at a time.
// The one of First is always among the endings.
func All(g *workflow.Graph, p Plan, c workflow.Conditions) (Endings, error) {
	e, player := Endings{}, &player{g: g, plan: &p, conditions: c}
	begin, err := player.begin()
	if err != nil {
		return e, err
	}
	first, err := First(g, p, c)
	if err != nil {
		return e, err
	}
	e.Runs = []Run{first}
	seen, ends := map[string]bool{begin.key(): true}, map[string]bool{first.fates(): true}
	var path []*branch
	if begin.outcome == nil {
		path = append(path, &branch{at: begin})
	}
	for tried := 0; len(path) > 0 && len(seen) < MaxStates && tried < maxTried; tried++ {
		last := path[len(path)-1]
		if last.tried == max(len(last.at.live), 1) {
			path = path[:len(path)-1]
			continue
		}
		at, err := player.next(last.at, last.tried)
		if err != nil {
			return e, err
		}
		last.tried++
		stored := at.key()
		switch {
		case seen[stored]:
		case at.outcome == nil:
			path = append(path, &branch{at: at})
		default:
			if run := player.result(at); !ends[run.fates()] {
				ends[run.fates()] = true
				e.Runs = append(e.Runs, run)
			}
		}
		seen[stored] = true
	}
	e.States, e.Whole = len(seen), len(path) == 0
	return e, nil
}

// maxTried bounds the ends that All lets happen: many lead to a state that was seen.
const maxTried = 20 * MaxStates

// branch is a moment on the way, and how many of its live executions have ended in turn.
type branch struct {
	at    *moment
	tried int
}

// fates tells runs apart.
func (r *Run) fates() string {
	var b strings.Builder
	fmt.Fprint(&b, r.Outcome)
	for i := range r.Steps {
		s := &r.Steps[i]
		fmt.Fprint(&b, "|", s.Status, s.Reason)
		if s.Counts != nil {
			fmt.Fprint(&b, *s.Counts)
		}
	}
	return b.String()
}

func play(g *workflow.Graph, p Plan, c workflow.Conditions, choose func([]wf.Key) int) (Run, error) {
	player := &player{g: g, plan: &p, conditions: c}
	at, err := player.begin()
	for err == nil && at.outcome == nil {
		k := 0
		if len(at.live) > 0 {
			k = choose(at.live)
		}
		at, err = player.next(at, k)
	}
	if err != nil {
		return Run{}, err
	}
	return player.result(at), nil
}

// player plays runs of one workflow.
type player struct {
	g          *workflow.Graph
	plan       *Plan
	conditions workflow.Conditions
}

// moment is where a run stands when all that follows from the last end is decided and stored.
type moment struct {
	state *wf.State
	now   time.Time
	// live are the executions that may end, and stopped those of them that are asked to stop.
	live    []wf.Key
	stopped map[wf.Key]bool
	wake    time.Time
	outcome *workflow.Outcome
	// ended are the steps in the order in which they became final; notes are said of steps.
	ended []int
	notes map[int][]string
}

func (at *moment) note(i int, text string) {
	if !slices.Contains(at.notes[i], text) {
		at.notes[i] = append(slices.Clone(at.notes[i]), text)
	}
}

// key tells moments apart from which different things may follow.
func (at *moment) key() string { return string(at.state.Encode()) + at.now.String() }

func (p *player) begin() (*moment, error) {
	now := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // any moment: nothing here takes time
	return p.follow(&moment{state: wf.NewState(p.g.Definition(), now), now: now}, workflow.Input{})
}

// next lets one of the live executions end, or the time pass where there is none.
func (p *player) next(at *moment, which int) (*moment, error) {
	if len(at.live) == 0 {
		if !at.wake.After(at.now) {
			return nil, errors.New("nothing is live, and the workflow run does not end")
		}
		later := *at
		later.now = at.wake
		return p.follow(&later, workflow.Input{})
	}
	key := at.live[which]
	end := p.outcome(key).end(key)
	stopped := at.stopped[key]
	if stopped {
		end = workflow.End{Key: key, Status: entity.StatusCancelled}
	}
	after, err := p.follow(at, workflow.Input{Ends: []workflow.End{end}})
	if i, _ := p.g.Step(key.Name); err == nil && stopped {
		after.note(i, "it was live, and was stopped")
	}
	return after, err
}

// outcome is the planned one of an execution.
func (p *player) outcome(key wf.Key) Outcome {
	if o, given := p.plan.Outcomes[key.String()]; given {
		return o
	}
	return p.plan.Outcomes[key.Name]
}

// follow decides as the engine does, and stores all of it.
func (p *player) follow(before *moment, in workflow.Input) (*moment, error) {
	at := &moment{state: before.state, now: before.now, ended: slices.Clone(before.ended), notes: maps.Clone(before.notes)}
	if at.notes == nil {
		at.notes = map[int][]string{}
	}
	for {
		in.Now = at.now
		d, err := workflow.Resolve(p.g, at.state, in, func(after *wf.State, asks []workflow.Ask) (
			map[int]workflow.Value, error,
		) {
			return p.answer(at, after, asks), nil
		})
		if err != nil {
			return nil, fmt.Errorf("decide a simulated run: %w", err)
		}
		_, at.state = d.Take(len(d.Rows))
		for _, i := range d.Held {
			at.note(i, "it is held (onStepFailure HOLD); nobody acts here, so the workflow run goes on after holdSec")
		}
		for _, i := range p.g.Order() {
			if at.state.Steps[i].Fate.Final() && !slices.Contains(at.ended, i) {
				at.ended = append(at.ended, i)
			}
		}
		if len(d.Rows) > 0 {
			in = workflow.Input{}
			continue
		}
		at.live, at.wake, at.outcome = workflow.Live(p.g, at.state), d.Wake, d.Close
		at.stopped = map[wf.Key]bool{}
		for _, key := range d.Cancels {
			at.stopped[key] = true
		}
		return at, nil
	}
}

// result is what a run came to.
func (p *player) result(at *moment) Run {
	run := Run{Outcome: *at.outcome}
	for i := range p.g.Definition().Steps {
		s := &at.state.Steps[i]
		step := Step{
			Name: p.g.Definition().Steps[i].Name, Status: s.Fate.Status(), Reason: s.Fate.Reason(), Class: s.Fate.Class(),
			Position: slices.Index(at.ended, i) + 1,
			Why:      strings.Join(append([]string{workflow.Why(p.g, at.state, i)}, at.notes[i]...), "; "),
		}
		if s.Items != nil {
			counts := workflow.CountsOf(s.Items)
			step.Counts = &counts
		}
		run.Steps = append(run.Steps, step)
	}
	return run
}
