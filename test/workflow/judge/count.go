package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// Cancelled are the runs, and their roots, that people asked to end, also by a replacement or from above.
func (j *Case) Cancelled() (ids []string) {
	for id, p := range j.passages {
		if p.cancelled() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Tally counts what workflow runs have met.
type Tally struct {
	// Closed are the runs that are over, Again those of them whose fates follow from their ends alone, which are decided
	// again.
	Closed, Again int
	// Outcomes are those of all runs, Kinds the executions of steps by their kind, and the steps and runs by what their
	// definition asks for. Verbs are what people did, and was acknowledged.
	Outcomes, Kinds, Verbs map[string]int
}

// Kinds lists what each long test is to meet.
func Kinds() []string {
	return []string{
		"http", "command", "custom", "named job", "child workflow", "approval", "wait", "forEach", "item", "when",
		"join ANY", "finally", "tolerate", "HOLD", "STOP",
	}
}

// Verbs lists what people do in each long test.
func Verbs() []string {
	return []string{
		"pause", "resume", "cancel", "repeat", "skip", "succeed", "approve", "reject", "retry", "edit", "delete",
	}
}

// Count counts the runs by their outcome, the executions of steps by their kind, and what people did.
func (j *Case) Count() Tally {
	t := Tally{Outcomes: map[string]int{}, Kinds: map[string]int{}, Verbs: map[string]int{}}
	flows, runs := map[string]Flow{}, map[string]bool{}
	for _, f := range j.Flows {
		flows[f.ID] = f
	}
	for _, r := range j.Runs {
		runs[r.ID] = true
	}
	for _, p := range j.passages {
		if p.decidable() {
			t.Again++
		}
	}
	for _, r := range j.Runs {
		t.Outcomes[r.Root.Status]++
		if r.Phase == "CLOSED" {
			t.Closed++
		}
		t.run(flows[r.Flow].Definition, r, runs)
	}
	for _, a := range j.Asks {
		if a.Done > 0 {
			t.Verbs[a.Verb]++
		}
	}
	for _, v := range j.Votes {
		if v.Done > 0 {
			t.Verbs[strings.ToLower(v.Decision)]++
		}
	}
	t.Verbs["edit"], t.Verbs["delete"] = j.Edits, j.Deletes
	return t
}

// run counts the steps of one run; runs are the ids of all.
func (t *Tally) run(d *wf.Definition, r Run, runs map[string]bool) {
	steps := map[string]*wf.Step{}
	for i := range d.Steps {
		steps[d.Steps[i].Name] = &d.Steps[i]
	}
	if d.OnStepFailure == wf.Hold || d.OnStepFailure == wf.Stop {
		t.Kinds[string(d.OnStepFailure)]++
	}
	for _, row := range r.Steps {
		name, item, _ := workflow.Cut(strings.TrimPrefix(row.FireKey, "run:"+r.ID+":"))
		s := steps[name]
		if s == nil || row.Reason == "REUSED" || row.Status == "SKIPPED" && row.Reason != "CONDITION" {
			continue // nothing was done
		}
		for what, is := range map[string]bool{
			"item": item >= 0, "forEach": item < 0 && s.ForEach != nil, "when": s.When != "", "join ANY": s.Any(),
			"finally": s.Finally, "tolerate": s.Tolerate, "child workflow": s.Job != nil && runs[row.ID],
			"named job":      s.Job != nil && !runs[row.ID],
			string(s.Kind()): s.Job == nil && (item >= 0 || s.ForEach == nil) && row.Status != "SKIPPED",
		} {
			if is {
				t.Kinds[what]++
			}
		}
	}
}

// String shows the counts on a few lines.
func (t Tally) String() string {
	return fmt.Sprintf("%d workflow runs closed: %s; %d are decided again\nsteps: %s\npeople: %s\n", t.Closed,
		counted(t.Outcomes), t.Again, counted(t.Kinds), counted(t.Verbs))
}

func counted(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(parts, ", ")
}
