package judge

import (
	"cmp"
	"slices"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// letThrough is the place before which nothing let a step begin.
func (p *passage) letThrough(s *step) (at int64) {
	if s.def.Finally {
		for _, other := range p.steps {
			if !other.def.Finally {
				at = max(at, p.since(other))
			}
		}
		return at
	}
	if s.def.Join != wf.JoinAny {
		for _, n := range s.def.Needs {
			at = max(at, p.since(p.steps[n.Step]))
		}
		return at
	}
	first := true
	for _, n := range s.def.Needs {
		need := p.steps[n.Step]
		if workflow.AsksFor(n, need.fate()) && (first || p.since(need) < at) {
			at, first = p.since(need), false
		}
	}
	return at
}

// order checks that each step began after those that let it.
func (p *passage) order() {
	for name, s := range p.steps {
		if began, let := p.begin(s), p.letThrough(s); began > 0 && began <= let {
			p.violate(RuleOrder, "%s of %s: %s began at %d, and what it follows ended at %d", p.flow.Name, p.run.ID, name, began,
				let)
		}
		for generation := 2; generation <= s.last; generation++ {
			for _, r := range s.rows[generation] {
				for _, former := range s.rows[generation-1] {
					if calls := p.calls[r.ID]; len(calls) > 0 && calls[0].Began <= p.endOf(former) {
						p.violate(RuleOrder, "%s of %s: %s began at %d, and the generation before ended at %d", p.flow.Name, p.run.ID,
							p.key(r), calls[0].Began, p.endOf(former))
					}
				}
			}
		}
	}
}

// stopped checks that nothing begins that was let through after a cancel, or in a pause.
func (p *passage) stopped() {
	for _, s := range p.steps {
		began, let := p.begin(s), p.letThrough(s)
		if began == 0 || len(s.def.Needs) == 0 {
			continue
		}
		for _, a := range p.asked("", "cancel", "pause") {
			until := int64(1) << 62
			if a.Verb == "pause" {
				for _, b := range p.asked("", "resume", "cancel") {
					if b.Sent > a.Sent {
						until = min(until, b.Sent)
					}
				}
			}
			if a.Done > 0 && let > a.Done && began < until {
				p.violate(RuleStopped, "%s of %s: %s began at %d, after the %s at %d; what it follows ended at %d", p.flow.Name,
					p.run.ID, s.def.Name, began, a.Verb, a.Done, let)
			}
		}
	}
}

// span is where the calls of a run began, first and last.
func (p *passage) span() (first, last int64) {
	for _, s := range p.steps {
		for _, id := range p.executions(s) {
			for _, c := range p.calls[id] {
				if first == 0 || c.Began < first {
					first = c.Began
				}
				last = max(last, c.Began)
			}
		}
	}
	return first, last
}

// closed checks that nothing of a run begins after what its end let begin, and that nothing of it is live.
func (j *Case) closed() {
	for _, r := range j.After {
		p := j.passages[r.StartedBy]
		if p == nil {
			j.violate(RuleClosed, "%s follows %s, which is no workflow run", r.ID, r.StartedBy)
			continue
		}
		_, last := p.span()
		for _, s := range p.steps {
			last = max(last, p.since(s))
		}
		for _, c := range j.calls[r.ID] {
			if c.Began <= last {
				j.violate(RuleClosed, "%s of %s: what follows its end began at %d, and the run had begins and ends until %d",
					p.flow.Name, p.run.ID, c.Began, last)
			}
		}
	}
	for _, p := range j.passages {
		for _, r := range p.run.Steps {
			if p.run.Root.Final() && !r.Final() {
				j.violate(RuleClosed, "%s of %s: %s is %s in a run that has ended", p.flow.Name, p.run.ID, p.key(r), r.Status)
			}
		}
	}
	type spans struct {
		run         string
		first, last int64
	}
	for _, f := range j.Flows {
		if !f.OneAtATime {
			continue
		}
		var all []spans
		for _, run := range j.Runs {
			if first, last := j.passages[run.ID].span(); run.Flow == f.ID && first > 0 {
				all = append(all, spans{run.ID, first, last})
			}
		}
		slices.SortFunc(all, func(a, b spans) int { return cmp.Compare(a.first, b.first) })
		for i := 1; i < len(all); i++ {
			if all[i].first <= all[i-1].last {
				j.violate(RuleClosed, "%s: %s began at %d, and %s, which excludes it, began something at %d", f.Name, all[i].run,
					all[i].first, all[i-1].run, all[i-1].last)
			}
		}
	}
}

// versions checks that a version is one text.
func (j *Case) versions() {
	texts := map[string]map[int]int{}
	for _, c := range j.Calls {
		if c.Step == nil || j.passages[c.Step.Run] == nil {
			continue
		}
		run := j.passages[c.Step.Run].run
		if texts[run.Flow] == nil {
			texts[run.Flow] = map[int]int{}
		}
		if had, known := texts[run.Flow][run.Version]; known && had != c.Step.Version {
			j.violate(RuleVersion, "%s of %s: %s has the text %d, and the version %d had %d", j.flows[run.Flow].Name, run.ID,
				c.Step.Key, c.Step.Version, run.Version, had)
		}
		texts[run.Flow][run.Version] = c.Step.Version
	}
}

// items checks maps: which items there were, how many at once, and what they make of the map.
func (p *passage) items() {
	for name, s := range p.steps {
		if s.def.ForEach == nil || !s.final() || s.reason == "REUSED" {
			continue
		}
		list, known := p.listOf(s)
		if !known {
			continue
		}
		failed, done := 0, 0
		var calls []history.Call
		for item, generations := range s.items {
			if item >= len(list) {
				p.violate(RuleItems, "%s of %s: %s[%d] of a list of %d", p.flow.Name, p.run.ID, name, item, len(list))
			}
			for _, r := range generations {
				calls = append(calls, p.calls[r.ID]...)
			}
			done++
			if s.newest(item).Status != "SUCCESS" {
				failed++
			}
		}
		most := 0
		if s.def.ForEach.Tolerate != nil {
			most = s.def.ForEach.Tolerate.Count
		}
		switch away := s.decidedAway() || s.reason == "RUN_CANCELLED" || s.reason == "RUN_STOPPED"; {
		case away:
		case s.status == "SUCCESS" && (done != len(list) || failed > most), s.status == "FAILED" && failed <= most:
			p.violate(RuleItems, "%s of %s: %s is %s (%s) with %d items of %d, of which %d failed", p.flow.Name, p.run.ID, name,
				s.status, s.reason, done, len(list), failed)
		}
		p.window(s, calls)
	}
}

// window checks how many items there are at once, at the begin of each.
func (p *passage) window(s *step, calls []history.Call) {
	slices.SortFunc(calls, func(a, b history.Call) int { return cmp.Compare(a.Began, b.Began) })
	most := s.def.ForEach.MaxParallel
	for _, c := range calls {
		live := map[string]bool{}
		for _, o := range calls {
			if o.Began <= c.Began && (o.Ended == 0 || o.Ended > c.Began) {
				live[o.Execution] = true
			}
		}
		if len(live) > most {
			p.violate(RuleItems, "%s of %s: %d items of %s at once at %d, more than %d", p.flow.Name, p.run.ID, len(live),
				s.def.Name, c.Began, most)
		}
	}
}
