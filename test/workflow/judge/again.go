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
	"github.com/platform-scheduler/platform-scheduler/test/workflow/drive"
)

// The bounds of what is decided again: how many orders of its ends a run is given, and in how many turns it has to end.
const (
	ordersOfEnds = 3
	mostTurns    = 20_000
)

// again decides runs that are over once more, with their ends shuffled, doubled and cut into other batches.
func (j *Case) again() {
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
	*drive.Run

	// rows are those that the decision ended by itself.
	rows map[string]decision.Row
}

// againIn decides the run in an order of its ends that r draws.
func (p *passage) againIn(r *rand.Rand) {
	run, err := drive.New(p.flow.Definition, time.Unix(1_800_000_000, 0))
	if err != nil {
		p.violate(RuleAgain, "%s of %s: its definition makes no graph: %s", p.flow.Name, p.run.ID, err)
		return
	}
	a := &replay{passage: p, Run: run, rows: map[string]decision.Row{}}
	a.Value, a.End = a.value, a.recorded
	for i := range p.flow.Definition.Steps {
		if s := p.steps[p.flow.Definition.Steps[i].Name]; s.reason == "REUSED" {
			a.State.Keep(i, wf.FateReused, nil)
		}
	}
	for range mostTurns {
		if a.Closed != nil {
			a.compare()
			return
		}
		rows, err := a.Follow(decision.Input{Ends: a.Ends(r)}, drive.Most(r))
		if err != nil {
			p.violate(RuleAgain, "%s of %s cannot be decided again: %s", p.flow.Name, p.run.ID, err)
			return
		}
		for _, row := range rows {
			if row.Kind == decision.RowFinal || row.Kind == decision.RowFinish {
				a.rows[row.Key.String()] = row
			}
		}
	}
	p.violate(RuleAgain, "%s of %s does not end when it is decided again; live are %v", p.flow.Name, p.run.ID, a.Live)
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

// value is what the condition and the list of a step came to.
func (a *replay) value(of *wf.Step) (v decision.Value) {
	s := a.steps[of.Name]
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
		fate := a.State.Steps[i].Fate
		letter := workflow.FateOf(string(fate.Status()), string(fate.Reason()))
		stored := s.status + " " + s.reason
		row, decided := a.rows[s.def.Name]
		other := decided && strings.TrimSpace(string(row.Status)+" "+string(row.Reason)) != strings.TrimSpace(stored)
		if letter != s.fate() || other {
			a.violate(RuleAgain, "%s of %s: %s is %s, and its ends in another order make it %s %s", a.flow.Name, a.run.ID,
				s.def.Name, stored, fate.Status(), fate.Reason())
		}
	}
	got := string(a.Closed.Status) + " " + string(a.Closed.Reason)
	if stored := a.run.Root.Status + " " + a.run.Root.Reason; got != stored {
		a.violate(RuleAgain, "%s of %s: the outcome is %s, and its ends in another order make it %s", a.flow.Name, a.run.ID,
			stored, got)
	}
}
