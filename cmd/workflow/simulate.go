package workflow

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/simulate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// The orders in which live steps end.
const (
	orderFirst  = "first"
	orderRandom = "random"
	orderAll    = "all"
)

// simulated is what a simulation came to, for programs.
type simulated struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	Order string `json:"order"`
	// Seed is that of the order random.
	Seed *int `json:"seed,omitempty"`
	// Endings are the different ends; one unless the order is all.
	Endings []ending `json:"endings"`
	// States counts what the order all looked at; Whole is false where there was more.
	States int  `json:"states,omitempty"`
	Whole  bool `json:"whole"`
}

type ending struct {
	Status   string `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Warnings int    `json:"warnings"`
	Steps    []fate `json:"steps"`
}

type fate struct {
	Step     string `json:"step"`
	Status   string `json:"status"`
	Reason   string `json:"reason,omitempty"`
	Class    string `json:"class"`
	Position int    `json:"position"`
	Why      string `json:"why"`
	Items    *items `json:"items,omitempty"`
}

type items struct {
	Total     int `json:"total"`
	Succeeded int `json:"success"`
	Failed    int `json:"failed"`
	NotRun    int `json:"notRun"`
}

// play plays a workflow run.
func play(k *remote.Call) error {
	order := k.Given("order")
	if order != orderFirst && order != orderRandom && order != orderAll {
		return usage.Errorf("--order is %s, %s or %s, not %q", orderFirst, orderRandom, orderAll, order)
	}
	if k.Changed("seed") && (order != orderRandom || k.Number("seed") < 0) {
		return usage.Errorf("--seed is a number from 0, and goes with --order random")
	}
	plan, err := planned(k)
	if err != nil {
		return err
	}
	w, g, err := one(k)
	if err != nil {
		return err
	}
	defaults(w, plan)
	if faults := plan.Check(g); len(faults) > 0 {
		return usage.Errorf("--%s", strings.Join(faults, "\n--"))
	}
	out := simulated{Name: w.Job.Name, Group: w.Job.Group, Order: order, Whole: true}
	var runs simulate.Endings
	switch order {
	case orderAll:
		runs, err = simulate.All(g, *plan, expression.Whens{})
		out.States, out.Whole = runs.States, runs.Whole
	case orderRandom:
		seed := k.Number("seed")
		out.Seed = &seed
		runs.Runs, err = single(simulate.Random(g, *plan, expression.Whens{}, uint64(seed))) //nolint:gosec // it is from 0
	default:
		runs.Runs, err = single(simulate.First(g, *plan, expression.Whens{}))
	}
	if err != nil {
		return err
	}
	for i := range runs.Runs {
		out.Endings = append(out.Endings, endingOf(&runs.Runs[i]))
	}
	if !k.ForPeople() {
		k.Value(out)
		return nil
	}
	show(k, &out)
	return nil
}

func single(run simulate.Run, err error) ([]simulate.Run, error) { return []simulate.Run{run}, err }

// planned reads the flags.
func planned(k *remote.Call) (*simulate.Plan, error) {
	p := &simulate.Plan{
		Outcomes: map[string]simulate.Outcome{}, Items: map[string]int{}, When: map[string]bool{},
		Params: map[string]json.RawMessage{},
	}
	for _, flag := range []struct {
		name, form string
		set        func(name, value string) bool
	}{
		{"outcome", "STEP=OUTCOME", func(name, value string) bool {
			p.Outcomes[name] = simulate.Outcome(strings.ToUpper(value))
			return value != ""
		}},
		{"items", "STEP=N", func(name, value string) (ok bool) {
			n, err := strconv.Atoi(value)
			p.Items[name] = n
			return err == nil
		}},
		{"when", "STEP=true or STEP=false", func(name, value string) bool {
			p.When[name] = value == "true"
			return value == "true" || value == "false"
		}},
		{"param", "NAME=VALUE", func(name, value string) bool {
			p.Params[name] = valueOf(value)
			return true
		}},
	} {
		given := map[string]bool{}
		for _, text := range k.Listed(flag.name) {
			name, value, cut := strings.Cut(text, "=")
			if !cut || name == "" || !flag.set(name, value) {
				return nil, usage.Errorf("--%s %q: write %s", flag.name, text, flag.form)
			}
			if given[name] {
				return nil, usage.Errorf("--%s: %s is given twice", flag.name, name)
			}
			given[name] = true
		}
	}
	return p, nil
}

// valueOf is a value as job trigger reads one: JSON where it is a number or a truth, else a text.
func valueOf(text string) json.RawMessage {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case float64, bool:
			return json.RawMessage(text)
		}
	}
	raw, _ := json.Marshal(text) // texts always marshal
	return raw
}

// defaults adds the defaults of declared parameters.
func defaults(w *request.Workflow, plan *simulate.Plan) {
	for _, p := range w.Job.Parameters {
		if _, given := plan.Params[p.Name]; !given && len(p.Default) > 0 {
			plan.Params[p.Name] = p.Default
		}
	}
}

func endingOf(r *simulate.Run) ending {
	e := ending{Status: string(r.Outcome.Status), Reason: string(r.Outcome.Reason), Warnings: r.Outcome.Warnings}
	for i := range r.Steps {
		s := &r.Steps[i]
		e.Steps = append(e.Steps, fate{
			Step: s.Name, Status: string(s.Status), Reason: string(s.Reason), Class: string(s.Class), Position: s.Position,
			Why: s.Why, Items: itemsOf(s.Counts),
		})
	}
	return e
}

func itemsOf(c *workflow.Counts) *items {
	if c == nil {
		return nil
	}
	return &items{Total: c.Total, Succeeded: c.Succeeded, Failed: c.Failed, NotRun: c.NotRun}
}

// show prints a simulation for people.
func show(k *remote.Call, out *simulated) {
	for i := range out.Endings {
		e := &out.Endings[i]
		if len(out.Endings) > 1 {
			k.Line("ending %d of %d", i+1, len(out.Endings))
		}
		rows := make([][]string, len(e.Steps))
		for n := range e.Steps {
			s := &e.Steps[n]
			rows[n] = []string{strconv.Itoa(s.Position), s.Step, s.Status, s.Reason, s.Why}
		}
		k.Rows([]string{"END", "STEP", "STATUS", "REASON", "WHY"}, rows)
		k.Line("the workflow run ends as %s", said(e))
	}
	switch {
	case out.Order != orderAll:
	case !out.Whole:
		k.Line("not all orders were played: it stopped after %s", counted(out.States, "state"))
	case len(out.Endings) == 1:
		k.Line("every order of ends comes to this (%s)", counted(out.States, "state"))
	default:
		k.Line("%s, by the order of ends (%s)", counted(len(out.Endings), "ending"), counted(out.States, "state"))
	}
}

func said(e *ending) string {
	text := e.Status
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	if e.Warnings > 0 {
		text += ", with " + counted(e.Warnings, "tolerated failure")
	}
	return text
}
