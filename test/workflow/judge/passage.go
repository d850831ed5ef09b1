package judge

import (
	"slices"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// passage is one run with what became of its steps.
type passage struct {
	*Case
	run   Run
	flow  Flow
	steps map[string]*step
}

// step is what became of one.
type step struct {
	def wf.Step
	// rows are its executions by generation, those of all shards; items those of a map.
	rows  map[int][]history.Row
	items map[int]map[int]history.Row
	// last is the newest generation; 0 is none.
	last int
	// status and reason are those of all shards of it.
	status, reason string
	// since caches the place before which the step had not ended.
	since  int64
	walked bool
}

// New reads evidence into a case.
func New(e Evidence) *Case {
	j := &Case{
		Evidence: e, flows: map[string]Flow{}, passages: map[string]*passage{}, calls: map[string][]history.Call{},
		votes: map[string][]Vote{}, parents: map[string]parent{}, asks: map[string][]Ask{}, ballots: map[string][]Ballot{},
	}
	for _, a := range e.Asks {
		j.asks[a.Run] = append(j.asks[a.Run], a)
	}
	for _, b := range e.Ballots {
		j.ballots[b.ExecutionID] = append(j.ballots[b.ExecutionID], b)
	}
	for _, f := range e.Flows {
		j.flows[f.ID] = f
	}
	for _, c := range e.Calls {
		j.calls[c.Execution] = append(j.calls[c.Execution], c)
	}
	for _, v := range e.Votes {
		j.votes[v.Execution] = append(j.votes[v.Execution], v)
	}
	for _, run := range e.Runs {
		p := &passage{Case: j, run: run, flow: j.flows[run.Flow], steps: map[string]*step{}}
		for _, def := range p.flow.Definition.Steps {
			p.steps[def.Name] = &step{def: def, rows: map[int][]history.Row{}, items: map[int]map[int]history.Row{}}
		}
		j.passages[run.ID] = p
		for _, r := range run.Steps {
			p.sort(r)
		}
		for _, s := range p.steps {
			s.fold()
		}
	}
	return j
}

// key is that of the step of a row.
func (p *passage) key(r history.Row) string {
	return strings.TrimPrefix(r.FireKey, "run:"+p.run.ID+":")
}

func (p *passage) sort(r history.Row) {
	name, item, generation := workflow.Cut(p.key(r))
	p.parents[r.ID] = parent{p, name}
	s := p.steps[name]
	switch {
	case s == nil:
		p.violate(RuleOnce, "%s of %s: %q is no step", p.flow.Name, p.run.ID, p.key(r))
	case item < 0:
		s.rows[generation] = append(s.rows[generation], r)
		s.last = max(s.last, generation)
	default:
		if s.items[item] == nil {
			s.items[item] = map[int]history.Row{}
		}
		if other, twice := s.items[item][generation]; twice {
			p.violate(RuleOnce, "%s of %s: %s is %s and %s", p.flow.Name, p.run.ID, p.key(r), other.ID, r.ID)
		}
		s.items[item][generation] = r
	}
}

// states orders those of shards: the outcome is the first one that any has.
func states() []string {
	return []string{"RUNNING", "WAITING", "DEAD", "TIMEOUT", "FAILED", "CANCELLED", "SKIPPED", "SUCCESS"}
}

func (s *step) fold() {
	for _, state := range states() {
		for _, r := range s.rows[s.last] {
			if r.Status == state {
				s.status, s.reason = r.Status, r.Reason
				return
			}
		}
	}
}

func (s *step) fate() workflow.Fate { return workflow.FateOf(s.status, s.reason) }

// final reports whether the step has ended.
func (s *step) final() bool { return s.status != "" && s.status != "RUNNING" && s.status != "WAITING" }

// decidedAway reports whether the engine made the end without a run.
func (s *step) decidedAway() bool {
	return s.status == "SKIPPED" && s.reason != "DEADLINE" || s.reason == "OPERATOR"
}

// newest is the latest execution of an item.
func (s *step) newest(item int) (r history.Row) {
	best := 0
	for g, row := range s.items[item] {
		if g > best {
			best, r = g, row
		}
	}
	return r
}

// executions are all of a step, also those of the run that it started.
func (p *passage) executions(s *step) (ids []string) {
	add := func(r history.Row) {
		ids = append(ids, r.ID)
		if below := p.passages[r.ID]; below != nil {
			for _, of := range below.steps {
				ids = append(ids, below.executions(of)...)
			}
		}
	}
	for _, rows := range s.rows {
		for _, r := range rows {
			add(r)
		}
	}
	for _, generations := range s.items {
		for _, r := range generations {
			add(r)
		}
	}
	return ids
}

// begin is the place of the first call of a step; 0 is none.
func (p *passage) begin(s *step) (first int64) {
	for _, id := range p.executions(s) {
		for _, c := range p.calls[id] {
			if first == 0 || c.Began < first {
				first = c.Began
			}
		}
	}
	return first
}

// answered is the call that an execution ended with.
func (j *Case) answered(r history.Row) (call history.Call, ok bool) {
	for _, c := range j.calls[r.ID] {
		if c.Attempt == r.Attempt && (c.Answer == history.AnswerOK || c.Answer == history.AnswerFailed) {
			return c, true
		}
	}
	return call, false
}

// since is a place before which a step cannot have ended.
func (p *passage) since(s *step) int64 {
	if s.walked {
		return s.since
	}
	s.walked = true
	for _, r := range s.rows[s.last] {
		s.since = max(s.since, p.endOf(r))
	}
	for item := range s.items {
		s.since = max(s.since, p.endOf(s.newest(item)))
	}
	if s.def.Approval != nil {
		s.since = max(s.since, p.votedAt(s))
	}
	if s.def.Join != wf.JoinAny && s.reason != "OPERATOR" && s.reason != "RUN_CANCELLED" && s.reason != "RUN_STOPPED" {
		for _, n := range s.def.Needs {
			s.since = max(s.since, p.since(p.steps[n.Step]))
		}
	}
	return s.since
}

func (p *passage) endOf(r history.Row) (at int64) {
	if below := p.passages[r.ID]; below != nil {
		for _, s := range below.steps {
			at = max(at, below.since(s))
		}
		return at
	}
	if c, ok := p.answered(r); ok && (r.Status == "SUCCESS" || r.Status == "FAILED" || r.Status == "DEAD") {
		return c.Ended
	}
	return 0
}

// votedAt is the place before which too few had voted for what an approval came to.
func (p *passage) votedAt(s *step) int64 {
	rows := s.rows[s.last]
	if len(rows) == 0 {
		return 0
	}
	first, counts := map[string]int64{}, map[string]bool{}
	for _, b := range p.ballots[rows[0].ID] {
		for _, v := range b.Votes {
			counts[v.User] = true
		}
	}
	for _, v := range p.votes[rows[0].ID] {
		earlier := first[v.User] == 0 || v.Sent < first[v.User]
		if earlier && counts[v.User] && (v.Decision == "APPROVE") == (s.status == "SUCCESS") {
			first[v.User] = v.Sent
		}
	}
	var sent []int64
	for _, at := range first {
		sent = append(sent, at)
	}
	slices.Sort(sent)
	need := 1
	if s.status == "SUCCESS" {
		need = max(s.def.Approval.Need, 1)
	}
	if s.decidedAway() || s.reason == "RUN_CANCELLED" || len(sent) < need {
		return 0
	}
	return sent[need-1]
}

// asked lists what people asked of a step, or of the run where it is empty.
func (p *passage) asked(name string, verbs ...string) (asks []Ask) {
	for _, a := range p.asks[p.run.ID] {
		asked, _, _ := strings.Cut(a.Step, "[")
		if asked == name && slices.Contains(verbs, a.Verb) {
			asks = append(asks, a)
		}
	}
	return asks
}

// timedOut reports whether the run took longer than it may.
func (p *passage) timedOut() bool { return p.flow.TimesOut && p.run.Root.Status == "TIMEOUT" }

// cancelled reports whether the run, or the one above, was asked to end, or may have been.
func (p *passage) cancelled() bool {
	if len(p.asked("", "cancel")) > 0 || p.flow.Replaces || p.flow.Deleted || p.timedOut() {
		return true
	}
	above, is := p.parents[p.run.ID]
	return is && (above.p.cancelled() || len(above.p.asked(above.step, "cancel", "skip")) > 0)
}
