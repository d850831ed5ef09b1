package judge

// origin is the step that a reused one keeps, and its run: that of the run that was repeated, or of the one before it.
// Any other step is its own.
func (p *passage) origin(s *step) (at *passage, of *step) {
	at, of = p, s
	for of.reason == "REUSED" {
		former := at.passages[at.run.Root.RetryOf]
		if former == nil || former.steps[s.def.Name] == nil || former.steps[s.def.Name].status != "SUCCESS" {
			return p, s
		}
		at, of = former, former.steps[s.def.Name]
	}
	return at, of
}

// retries checks that each retry that was acknowledged began its run, and that nobody else began one.
func (j *Case) retries() {
	begun := map[string]int{}
	for _, p := range j.passages {
		if former := p.run.Root.RetryOf; former != "" {
			begun[former]++
			p.repeats()
		}
	}
	for former, n := range begun {
		asked := 0
		for _, a := range j.asks[former] {
			if a.Verb == "retry" {
				asked++
			}
		}
		if n > asked {
			j.violate(RuleRetry, "%s was repeated %d times, and %d retries were asked for", former, n, asked)
		}
	}
	for _, a := range j.Asks {
		if a.Verb != "retry" || a.Done == 0 {
			continue
		}
		if p := j.passages[a.Made]; p == nil || p.run.Root.RetryOf != a.Run {
			j.violate(RuleRetry, "the retry of %s was acknowledged as %s, which does not repeat it", a.Run, a.Made)
		}
	}
}

// repeats checks that a step which had succeeded, and follows none that did not, is kept.
func (p *passage) repeats() {
	former := p.passages[p.run.Root.RetryOf]
	if former == nil {
		p.violate(RuleRetry, "%s of %s repeats %s, which is not there", p.flow.Name, p.run.ID, p.run.Root.RetryOf)
		return
	}
	known := map[string]bool{}
	var kept func(name string) bool
	kept = func(name string) bool {
		if k, is := known[name]; is {
			return k
		}
		s := former.steps[name]
		k := !s.def.Finally && (s.status == "SUCCESS" || s.fate() == 'x')
		for _, n := range s.def.Needs {
			k = kept(n.Step) && k
		}
		known[name] = k
		return k
	}
	for name, s := range p.steps {
		reused := s.reason == "REUSED"
		if want := kept(name) && former.steps[name].status == "SUCCESS"; want != reused {
			p.violate(RuleRetry, "%s of %s: %s is %s (%s) in the repetition of %s, where it was %s (%s)", p.flow.Name, p.run.ID,
				name, s.status, s.reason, former.run.ID, former.steps[name].status, former.steps[name].reason)
		}
	}
}
