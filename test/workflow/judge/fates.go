package judge

import (
	"encoding/json"
	"slices"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// once checks that no step stands twice, and none was repeated that nobody asked for.
func (p *passage) once() {
	for name, s := range p.steps {
		most := 1 + len(p.asked(name, "repeat", "skip", "succeed"))
		for generation, rows := range s.rows {
			shards := map[int]string{}
			for _, r := range rows {
				if other := shards[r.ShardIndex]; other != "" {
					p.violate(RuleOnce, "%s of %s: %s is %s and %s", p.flow.Name, p.run.ID, p.key(r), other, r.ID)
				}
				shards[r.ShardIndex] = r.ID
			}
			if generation > most {
				p.violate(RuleOnce, "%s of %s: %s has the generation %d and was asked for %d", p.flow.Name, p.run.ID, name,
					generation, most)
			}
		}
		done := 1
		for _, a := range p.asked(name, "repeat", "skip", "succeed") {
			if a.Done > 0 {
				done++
			}
		}
		if s.last < done && s.last > 0 && len(p.asked(name, "cancel")) == 0 && s.def.Wait == nil {
			p.violate(RuleLost, "%s of %s: %s has the generation %d; %d were acknowledged", p.flow.Name, p.run.ID, name, s.last,
				done)
		}
	}
}

// strangers are calls of executions that no row knows.
func (j *Case) strangers() {
	for _, c := range j.Calls {
		if c.Step == nil {
			continue
		}
		of, known := j.parents[c.Execution]
		name, _, _ := workflow.Cut(c.Step.Key)
		if !known || of.p.run.ID != c.Step.Run || of.step != name {
			j.violate(RuleOnce, "the target was called for %s of %s by %s, which is no execution of it", c.Step.Key, c.Step.Run,
				c.Execution)
		}
	}
}

// ended checks that each step has ended as its needs say.
func (p *passage) ended() {
	if !p.run.Root.Final() || p.run.Phase != "CLOSED" {
		p.violate(RuleLost, "%s of %s: the run is %s and its root %s, since %s: %s", p.flow.Name, p.run.ID, p.run.Phase,
			p.run.Root.Status, p.run.Root.CreateTime.Format("15:04:05.000"), p.run.Problem)
		return
	}
	for name, s := range p.steps {
		if !s.final() {
			p.violate(RuleLost, "%s of %s: %s is %q in a run that is %s", p.flow.Name, p.run.ID, name, s.status,
				p.run.Root.Status)
			continue
		}
		p.fate(s)
		for _, rows := range s.rows {
			for _, r := range rows {
				p.seen(s, r)
			}
		}
		for item := range s.items {
			for _, r := range s.items[item] {
				p.seen(s, r)
			}
		}
	}
}

// fate compares the end of a step with those of its needs.
func (p *passage) fate(s *step) {
	name := s.def.Name
	switch s.reason {
	case "OPERATOR":
		former := p.passages[p.run.Root.RetryOf]
		kept := former != nil && former.steps[name].reason == "OPERATOR" // a retry keeps what was skipped
		if len(p.asked(name, "skip", "succeed", "cancel")) == 0 && !kept {
			p.violate(RuleFate, "%s of %s: %s is %s (OPERATOR), and nobody asked for it", p.flow.Name, p.run.ID, name, s.status)
		}
		return
	case "REUSED":
		if _, of := p.origin(s); of == s {
			p.violate(RuleRetry, "%s of %s: %s is REUSED, and no former run came to it", p.flow.Name, p.run.ID, name)
		}
		return
	case "RUN_CANCELLED":
		if !p.cancelled() {
			p.violate(RuleFate, "%s of %s: %s is RUN_CANCELLED, and nobody cancelled the run", p.flow.Name, p.run.ID, name)
		}
		return
	case "RUN_STOPPED":
		if p.flow.Definition.OnStepFailure != wf.Stop || !p.failed(false) {
			p.violate(RuleFate, "%s of %s: %s is RUN_STOPPED, and no step failed", p.flow.Name, p.run.ID, name)
		}
		return
	}
	fates := make([]workflow.Fate, len(s.def.Needs))
	for i, n := range s.def.Needs {
		fates[i] = p.steps[n.Step].fate()
	}
	runs, otherwise := workflow.Runs(s.def, fates)
	if runs && !p.holds(s) {
		if s.reason != "CONDITION" {
			p.violate(RuleFate, "%s of %s: the condition of %s does not hold, and it is %s %s", p.flow.Name, p.run.ID, name,
				s.status, s.reason)
		}
		return
	}
	reason := "UPSTREAM_FAILED"
	if otherwise == workflow.Skipped {
		reason = "UPSTREAM_SKIPPED"
	}
	notRun := s.status == "SKIPPED" && (strings.HasPrefix(s.reason, "UPSTREAM_") || s.reason == "CONDITION")
	switch {
	case runs && notRun:
		p.violate(RuleLost, "%s of %s: %s was to run, and is %s; needs %q", p.flow.Name, p.run.ID, name, s.reason, fates)
	case !runs && !notRun:
		p.violate(RuleFate, "%s of %s: %s was not to run, and is %s; needs %q", p.flow.Name, p.run.ID, name, s.status, fates)
	case !runs && s.reason != reason:
		p.violate(RuleFate, "%s of %s: %s is %s, and its needs %q make it %s", p.flow.Name, p.run.ID, name, s.reason, fates,
			reason)
	}
}

// holds reports whether the condition of a step does.
func (p *passage) holds(s *step) bool {
	when, is := p.flow.Whens[s.def.Name]
	if !is {
		return true
	}
	at, of := p.origin(p.steps[when.Step])
	if of.status != "SUCCESS" {
		return true
	}
	for _, r := range of.rows[of.last] {
		if c, ok := at.answered(r); ok && c.Step != nil {
			var out struct{ N int }
			_ = json.Unmarshal([]byte(c.Step.Out), &out)
			return out.N > when.Above
		}
	}
	return true
}

// seen checks that the target answered the last attempt of an execution as its row says.
func (p *passage) seen(s *step, r history.Row) {
	if s.def.Wait != nil || s.def.Approval != nil || p.passages[r.ID] != nil || s.def.ForEach != nil &&
		!strings.Contains(r.FireKey, "[") ||
		slices.Contains([]string{"OPERATOR", "NODE_LOST", "SHUTDOWN", "REUSED"}, r.Reason) {
		return
	}
	c, answered := p.answered(r)
	switch r.Status {
	case "SUCCESS":
		if !answered || c.Answer != history.AnswerOK {
			p.violate(RuleLost, "%s of %s: %s succeeded at attempt %d, and the target saw %+v", p.flow.Name, p.run.ID, p.key(r),
				r.Attempt, p.calls[r.ID])
		}
	case "FAILED", "DEAD":
		if !answered || c.Answer != history.AnswerFailed {
			p.violate(RuleLost, "%s of %s: %s is %s (%s %s) at attempt %d, and the target saw %+v", p.flow.Name, p.run.ID,
				p.key(r), r.Status, r.Reason, r.ErrorMessage, r.Attempt, p.calls[r.ID])
		}
	case "TIMEOUT":
		p.violate(RuleLost, "%s of %s: %s timed out; all targets end in time", p.flow.Name, p.run.ID, p.key(r))
	case "SKIPPED":
		if len(p.calls[r.ID]) > 0 {
			p.violate(RuleFate, "%s of %s: %s is SKIPPED (%s), and the target saw it run", p.flow.Name, p.run.ID, p.key(r),
				r.Reason)
		}
	}
}

// failed reports whether a step failed that is not tolerated: of those that run last, or of the others.
func (p *passage) failed(last bool) bool {
	for _, s := range p.steps {
		if s.def.Finally == last && !s.def.Tolerate && s.final() && s.fate() == workflow.Failure {
			return true
		}
	}
	return false
}

// outcome compares that of the run with those of its steps.
func (p *passage) outcome() {
	root, want := p.run.Root, "SUCCESS "
	if !root.Final() {
		return
	}
	switch {
	case p.timedOut():
		return
	case root.Status == "CANCELLED":
		if !p.cancelled() {
			p.violate(RuleOutcome, "%s of %s: the run is CANCELLED (%s), and nobody asked for it", p.flow.Name, p.run.ID,
				root.Reason)
		}
		return
	case p.failed(false):
		want = "FAILED STEP_FAILED"
	case p.failed(true):
		want = "FAILED FINALLY_FAILED"
	}
	if got := root.Status + " " + root.Reason; got != want {
		p.violate(RuleOutcome, "%s of %s: the outcome is %s, and the steps make it %s", p.flow.Name, p.run.ID, got, want)
	}
	for _, s := range p.steps {
		if s.reason == "RUN_CANCELLED" {
			p.violate(RuleOutcome, "%s of %s: %s is RUN_CANCELLED in a run that is %s", p.flow.Name, p.run.ID, s.def.Name,
				root.Status)
		}
	}
}
