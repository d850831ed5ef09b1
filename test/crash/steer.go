package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// flowView is a workflow run as the API shows it.
type flowView struct {
	ID, WorkflowID, Phase, Problem string
	Version                        int
	Steps                          []struct {
		Step, State string
		Held        bool
		Generation  int
	}
}

// ballotView is an approval as the API shows it.
type ballotView = judge.Ballot

// Steerer is the people of the workflows: they vote, repeat, skip and call held steps a success, cancel, pause and
// resume runs, and edit a workflow. It notes what it asked, with the place in the sequence of the target.
type Steerer struct {
	client *Client
	people map[string]*Client
	target *Target
	url    string
	size   Size
	ids    map[string]string // of the workflows, by name
	// bases are those of the nodes.
	bases []string

	mu       sync.Mutex
	random   *rand.Rand
	asks     []judge.Ask
	votes    []judge.Vote
	edits    int
	settling bool
}

type plan struct {
	verb, step string
	at         time.Time
	done       bool
}

// Voters makes the people who vote and signs them in. It comes before the workflows that name them.
func Voters(ctx context.Context, c *Client) (map[string]*Client, error) {
	people := map[string]*Client{}
	for _, name := range voters() {
		const password = "the word of a voter 1"
		body := map[string]any{"username": name, "password": password, "role": "operator"}
		if err := c.Call(ctx, http.MethodPost, "/api/v1/users", body); err != nil {
			return nil, fmt.Errorf("create the user %s: %w", name, err)
		}
		people[name] = &Client{Base: c.Base}
		if err := people[name].login(ctx, name, password); err != nil {
			return nil, fmt.Errorf("sign in %s: %w", name, err)
		}
	}
	return people, nil
}

// NewSteerer wires the parts; size is that of the workload, jobs are what it made, bases those of further nodes.
func NewSteerer(c *Client, people map[string]*Client, t *Target, url string, size Size, jobs []history.Job,
	bases ...string,
) *Steerer {
	s := &Steerer{
		bases:  append(bases, c.Base),
		client: c, people: people, target: t, url: url, size: size, ids: map[string]string{},
		random: rand.New(rand.NewPCG(size.Seed, 5)), //nolint:gosec // it is to be repeatable
	}
	for _, j := range jobs {
		s.ids[j.Name] = j.ID
	}
	return s
}

// Run steers until the context ends. Nodes die meanwhile: what was not answered is asked again, or not.
// Each kind of people waits for its own answers alone: a node that is silent holds up one of them.
func (s *Steerer) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, do := range []func(context.Context){
		s.freer(), s.steerer(flowSteered), s.steerer(smallSteered), s.vote, s.editor(), s.retrier(),
	} {
		all.Go(func() {
			for ctx.Err() == nil {
				do(ctx)
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	all.Wait()
}

// Settle lets every run come to its end from now on: nothing is paused, held or edited any more.
func (s *Steerer) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settling = true
}

func (s *Steerer) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settling
}

// Asked is what was asked so far, and how often a text was changed.
func (s *Steerer) Asked() (asks []judge.Ask, votes []judge.Vote, edits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asks), slices.Clone(s.votes), s.edits
}

// draw is a number below n.
func (s *Steerer) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// node is some node, for the session of a client.
func (s *Steerer) node(c *Client) *Client { return c.At(s.bases[s.draw(len(s.bases))]) }

// runs are some of a workflow; none where it is not there, or the node is away.
func (s *Steerer) runs(ctx context.Context, name, more string) []flowView {
	var page struct{ Items []flowView }
	path := "/api/v1/workflow-runs?limit=100" + more + "&workflowId=" + s.ids[name]
	if s.ids[name] == "" || s.node(s.client).call(ctx, http.MethodGet, path, "", nil, &page) != nil {
		return nil
	}
	return page.Items
}

const stillOpen = "&phase=OPEN,PAUSED"

func (s *Steerer) freer() func(context.Context) {
	return func(ctx context.Context) {
		for _, name := range []string{flowHeld, smallHeld} {
			for _, run := range s.runs(ctx, name, stillOpen) {
				s.free(ctx, run.ID)
			}
		}
	}
}

// steerer keeps what each run of a workflow is met with, and when.
func (s *Steerer) steerer(name string) func(context.Context) {
	plans := map[string]plan{}
	return func(ctx context.Context) {
		for _, run := range s.runs(ctx, name, stillOpen) {
			s.steer(ctx, run, plans)
		}
	}
}

// retryEach is how long it is between two retries.
const retryEach = 2 * time.Second

// retrier repeats runs that failed, each once: a repetition that fails may be repeated itself.
func (s *Steerer) retrier() func(context.Context) {
	repeated, last := map[string]bool{}, time.Time{}
	names := []string{smallFails, "flow, small diamond", "flow, small list", "flow, named", "flow, map", "flow, small job"}
	for i := range 4 {
		names = append(names, fmt.Sprintf("flow, graph %d", i))
	}
	return func(ctx context.Context) {
		if s.settled() || time.Since(last) < retryEach {
			return
		}
		name := names[s.draw(len(names))]
		for _, run := range s.runs(ctx, name, "&phase=CLOSED&status=FAILED") {
			if !repeated[run.ID] {
				repeated[run.ID], last = true, time.Now()
				s.ask(ctx, run.ID, "", "retry")
				return
			}
		}
	}
}

// ask sends a verb and notes it. A verb that is refused was not asked.
func (s *Steerer) ask(ctx context.Context, run, step, verb string) {
	a := judge.Ask{Run: run, Step: step, Verb: verb, Sent: s.target.Now()}
	path := "/api/v1/workflow-runs/" + run
	if step != "" {
		path += "/steps/" + step
	}
	var made struct{ ExecutionID string }
	err := s.node(s.client).call(ctx, http.MethodPost, path+"/"+verb, "", nil, &made)
	if verb == "retry" {
		a.Made = made.ExecutionID
	}
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status < 500 {
		return
	}
	if err == nil {
		a.Done = s.target.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, a)
}

// free decides about the held steps of a run.
func (s *Steerer) free(ctx context.Context, id string) {
	var run flowView
	if s.node(s.client).call(ctx, http.MethodGet, "/api/v1/workflow-runs/"+id, "", nil, &run) != nil {
		return
	}
	for _, step := range run.Steps {
		if step.Held && (s.settled() || s.draw(3) > 0) {
			s.ask(ctx, id, step.Step, []string{"repeat", "repeat", "skip", "succeed"}[s.draw(4)])
		}
	}
}

// steer does to a run what was drawn for it when it was seen first.
func (s *Steerer) steer(ctx context.Context, run flowView, plans map[string]plan) {
	p, known := plans[run.ID]
	if !known {
		draws := []plan{
			{verb: "cancel"},
			{verb: "cancel"},
			{verb: "pause"},
			{verb: "pause"},
			{verb: "cancel", step: "slow"},
			{verb: "cancel", step: "each"},
			{verb: "cancel", step: "each[0]"},
			{verb: "skip", step: "pause"},
			{},
		}
		p = draws[s.draw(len(draws))]
		p.at = time.Now().Add(time.Duration(s.draw(900)) * time.Millisecond)
		plans[run.ID] = p
	}
	switch {
	case run.Phase == "PAUSED" && (s.settled() || time.Since(p.at) > 500*time.Millisecond):
		s.ask(ctx, run.ID, "", "resume")
	case p.verb != "" && !p.done && !s.settled() && time.Now().After(p.at):
		s.ask(ctx, run.ID, p.step, p.verb)
		p.done = true
		plans[run.ID] = p
	}
}

func (s *Steerer) vote(ctx context.Context) {
	var page struct{ Items []ballotView }
	if s.node(s.client).call(ctx, http.MethodGet, "/api/v1/approvals?status=OPEN&limit=100", "", nil, &page) != nil {
		return
	}
	for _, b := range page.Items {
		var both sync.WaitGroup
		for _, name := range voters() {
			if b.Step == flowLate && s.draw(8) > 0 || !s.settled() && s.draw(2) == 0 {
				continue
			}
			v := judge.Vote{Execution: b.ExecutionID, User: name, Decision: "APPROVE"}
			if s.draw(4) == 0 {
				v.Decision = "REJECT"
			}
			person := s.node(s.people[name])
			both.Go(func() { s.send(ctx, person, v) }) // two at once decide once
		}
		both.Wait()
	}
}

func (s *Steerer) send(ctx context.Context, person *Client, v judge.Vote) {
	v.Sent = s.target.Now()
	err := person.Call(ctx, http.MethodPost, "/api/v1/approvals/"+v.Execution, map[string]any{"decision": v.Decision})
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status < 500 {
		return
	}
	if err == nil {
		v.Done = s.target.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.votes = append(s.votes, v)
}

// editor gives one workflow another text, again and again.
func (s *Steerer) editor() func(context.Context) {
	edited := time.Time{}
	return func(ctx context.Context) {
		if !s.settled() && time.Since(edited) > 2*time.Second && s.edit(ctx) {
			edited = time.Now()
		}
	}
}

// edit reports whether the edit was acknowledged.
func (s *Steerer) edit(ctx context.Context) bool {
	var now struct{ Version int }
	path := "/api/v1/jobs/" + s.ids[flowEdited]
	if s.node(s.client).call(ctx, http.MethodGet, path, "", nil, &now) != nil {
		return false
	}
	d := flow(flowEdited, 2*max(s.size.Pace, 1), sketch{s.url, now.Version + 1}.chain(4, 20), nil)
	d.body["name"], d.body["version"] = flowEdited, now.Version
	if s.node(s.client).Call(ctx, http.MethodPut, path, d.body) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edits++
	return true
}
