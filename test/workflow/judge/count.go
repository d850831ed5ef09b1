package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// Cancelled are the runs, and their roots, that people asked to end, also by a replacement or from above.
func (e Evidence) Cancelled() (ids []string) {
	j := newJudge(e)
	for id, p := range j.passages {
		if p.cancelled() {
			ids = append(ids, id)
		}
	}
	return ids
}

// String counts the runs by their outcome, the executions of steps by their kind, and what people did.
func (e Evidence) String() string {
	runs, steps, verbs := map[string]int{}, map[string]int{}, map[string]int{}
	kinds := map[string]map[string]string{}
	for _, f := range e.Flows {
		kinds[f.ID] = map[string]string{}
		for _, s := range f.Definition.Steps {
			kinds[f.ID][s.Name] = string(s.Kind())
		}
	}
	for _, r := range e.Runs {
		runs[r.Root.Status]++
		for _, s := range r.Steps {
			name, item, _ := workflow.Cut(strings.TrimPrefix(s.FireKey, "run:"+r.ID+":"))
			kind := kinds[r.Flow][name]
			if item >= 0 {
				kind = "item"
			}
			steps[kind]++
		}
	}
	for _, a := range e.Asks {
		if a.Step != "" {
			a.Verb += " step"
		}
		verbs[a.Verb]++
	}
	for _, v := range e.Votes {
		verbs[strings.ToLower(v.Decision)]++
	}
	return fmt.Sprintf("%d workflow runs: %s\nsteps: %s\npeople: %s\n", len(e.Runs), counted(runs), counted(steps),
		counted(verbs))
}

func counted(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(parts, ", ")
}
