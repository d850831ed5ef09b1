package judge

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	decision "github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// The bounds of what is decided again: how many orders of its ends a run is given, and in how many turns it has to end.
const (
	ordersOfEnds = 3
	mostTurns    = 20_000
)

// again decides runs that are over once more, with their ends shuffled, doubled and cut into other batches.
func (j *judge) again() {
	for i := range j.Runs {
		p := j.passages[j.Runs[i].ID]
		if !p.decidable() {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(p.run.ID))
		for order := range uint64(ordersOfEnds) {
			p.againIn(rand.New(rand.NewPCG(h.Sum64(), order))) //nolint:gosec // it is to be repeatable
		}
	}
}

// decidable reports whether the ends of a run alone make its fates. They do not where the run was stopped, by a person
// or a failure: then it matters what had begun before. Nor do they where a person decided about a held step or a map.
func (p *passage) decidable() bool {
	status := p.run.Root.Status
	if p.run.Phase != "CLOSED" || p.cancelled() || status != "SUCCESS" && status != "FAILED" || len(p.run.Steps) == 0 {
		return false
	}
	for _, s := range p.steps {
		if s.last != 1 || !s.final() || s.reason == "RUN_STOPPED" || s.reason == "RUN_CANCELLED" ||
			s.def.ForEach != nil && s.status == "CANCELLED" || len(p.asked(s.def.Name, "cancel", "repeat", "succeed")) > 0 {
			return false
		}
	}
	return p.flow.Definition.OnStepFailure != wf.Stop || !p.failed(false)
}

// replay carries a run out once more.
type replay struct {
	*passage
	r     *rand.Rand
	g     *decision.Graph
	state *wf.State
	now   time.Time
	live  []wf.Key
	// rows are those that the decision ended by itself, closed is what the run came to.
	rows   map[string]decision.Row
	closed *decision.Outcome
}

// againIn decides the run in an order of its ends that r draws.
func (p *passage) againIn(r *rand.Rand) {
	g, err := decision.NewGraph(p.flow.Definition)
	if err != nil {
		p.violate(RuleAgain, "%s of %s: its definition makes no graph: %s", p.flow.Name, p.run.ID, err)
		return
	}
	now := time.Unix(1_800_000_000, 0)
	a := &replay{
		passage: p, r: r, g: g, state: wf.NewState(p.flow.Definition, now), now: now, rows: map[string]decision.Row{},
	}
	for i := range p.flow.Definition.Steps {
		if s := p.steps[p.flow.Definition.Steps[i].Name]; s.reason == "REUSED" {
			a.state.Keep(i, wf.FateReused, nil)
		}
	}
	var former []decision.End
	for range mostTurns {
		if a.closed != nil {
			a.compare()
			return
		}
		in := a.batch(&former)
		if err := a.follow(in); err != nil {
			p.violate(RuleAgain, "%s of %s cannot be decided again: %s", p.flow.Name, p.run.ID, err)
			return
		}
	}
	p.violate(RuleAgain, "%s of %s does not end when it is decided again; live are %v", p.flow.Name, p.run.ID, a.live)
}

// batch ends some live executions, and hands former ends in once more.
func (a *replay) batch(former *[]decision.End) (in decision.Input) {
	for len(a.live) > 0 && a.r.IntN(3) > 0 {
		at := a.r.IntN(len(a.live))
		key := a.live[at]
		a.live = append(append([]wf.Key{}, a.live[:at]...), a.live[at+1:]...)
		in.Ends = append(in.Ends, a.recorded(key))
	}
	*former = append(*former, in.Ends...)
	for range a.r.IntN(3) {
		if len(*former) > 0 {
			in.Ends = append(in.Ends, (*former)[a.r.IntN(len(*former))])
		}
	}
	a.r.Shuffle(len(in.Ends), func(i, k int) { in.Ends[i], in.Ends[k] = in.Ends[k], in.Ends[i] })
	return in
}

// recorded is the end that stands in the store. An item that was never begun there is one behind too many failures: its
// end changes nothing.
func (a *replay) recorded(key wf.Key) decision.End {
	s := a.steps[key.Name]
	end := decision.End{Key: key, Status: entity.StatusSuccess}
	if key.Item == wf.Whole {
		end.Status, end.Reason = entity.Status(s.status), entity.Reason(s.reason)
	} else if row := s.newest(key.Item); row.Status != "" {
		end.Status, end.Reason = entity.Status(row.Status), entity.Reason(row.Reason)
	}
	return end
}

// follow decides once, and stores some of the rows.
func (a *replay) follow(in decision.Input) error {
	in.Now = a.now
	d, err := decision.Resolve(a.g, a.state, in, func(_ *wf.State, asks []decision.Ask) (map[int]decision.Value, error) {
		values := map[int]decision.Value{}
		for _, ask := range asks {
			values[ask.Step] = a.value(a.steps[a.flow.Definition.Steps[ask.Step].Name])
		}
		return values, nil
	})
	if err != nil {
		return err
	}
	most := 1000
	if a.r.IntN(2) == 0 {
		most = a.r.IntN(4)
	}
	rows, state := d.Take(most)
	for _, row := range rows {
		switch row.Kind {
		case decision.RowStart:
			a.live = append(a.live, row.Key)
		case decision.RowFinal, decision.RowFinish:
			a.rows[row.Key.String()] = row
		case decision.RowMap:
		}
	}
	if d.Closes(rows) {
		a.closed = d.Close
	}
	a.state, err = wf.Decode(state.Encode())
	return err
}

// value is what the condition and the list of a step came to.
func (a *replay) value(s *step) (v decision.Value) {
	v.Holds = s.reason != "CONDITION"
	if s.reason == "INVALID" {
		v.Wrong = "so it stands in the store"
	}
	if s.def.ForEach == nil {
		return v
	}
	if list, known := a.listOf(s); known {
		v.Items = len(list)
		return v
	}
	for item := range s.items {
		v.Items = max(v.Items, item+1)
	}
	return v
}

// compare says where the fates are others than those in the store.
func (a *replay) compare() {
	for i := range a.flow.Definition.Steps {
		s := a.steps[a.flow.Definition.Steps[i].Name]
		fate := a.state.Steps[i].Fate
		letter := workflow.FateOf(string(fate.Status()), string(fate.Reason()))
		stored := s.status + " " + s.reason
		row, decided := a.rows[s.def.Name]
		other := decided && strings.TrimSpace(string(row.Status)+" "+string(row.Reason)) != strings.TrimSpace(stored)
		if letter != s.fate() || other {
			a.violate(RuleAgain, "%s of %s: %s is %s, and its ends in another order make it %s %s", a.flow.Name, a.run.ID,
				s.def.Name, stored, fate.Status(), fate.Reason())
		}
	}
	got := string(a.closed.Status) + " " + string(a.closed.Reason)
	if stored := a.run.Root.Status + " " + a.run.Root.Reason; got != stored {
		a.violate(RuleAgain, "%s of %s: the outcome is %s, and its ends in another order make it %s", a.flow.Name, a.run.ID,
			stored, got)
	}
}
