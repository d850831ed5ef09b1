package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// The forms of a graph for people.
const (
	formatText    = "text"
	formatMermaid = "mermaid"
	formatDOT     = "dot"
)

// drawn is a graph for programs.
type drawn struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	// Steps stand after those that they need.
	Steps []node `json:"steps"`
	Edges []edge `json:"edges"`
}

type node struct {
	Name    string  `json:"name"`
	Kind    wf.Kind `json:"kind"`
	Join    wf.Join `json:"join"`
	When    string  `json:"when,omitempty"`
	Map     bool    `json:"map"`
	Finally bool    `json:"finally"`
}

type edge struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	On   []string `json:"on"`
}

// draw draws a workflow.
func draw(k *remote.Call) error {
	formats := map[string]func(*drawn) []string{
		formatText: asText, formatMermaid: asMermaid, formatDOT: asDOT,
	}
	format := formats[k.Given("format")]
	if format == nil {
		return usage.Errorf("--format is %s, %s or %s, not %q", formatText, formatMermaid, formatDOT, k.Given("format"))
	}
	w, g, err := one(k)
	if err != nil {
		return err
	}
	d := graphOf(g)
	d.Name, d.Group = w.Job.Name, w.Job.Group
	if !k.ForPeople() {
		k.Value(d)
	}
	k.Lines(format(d))
	return nil
}

func graphOf(g *workflow.Graph) *drawn {
	d := &drawn{Steps: []node{}, Edges: []edge{}}
	for _, i := range g.Order() {
		s := &g.Definition().Steps[i]
		n := node{Name: s.Name, Kind: s.Kind(), Join: wf.JoinAll, When: s.When, Map: s.ForEach != nil, Finally: s.Finally}
		if s.Any() {
			n.Join = wf.JoinAny
		}
		d.Steps = append(d.Steps, n)
		for k := range s.Needs {
			e := edge{From: s.Needs[k].Step, To: s.Name}
			for _, c := range wf.Classes() {
				if s.Needs[k].Accepts(c) {
					e.On = append(e.On, string(c))
				}
			}
			d.Edges = append(d.Edges, e)
		}
	}
	return d
}

// plain reports whether an edge asks for success alone, which needs no word.
func (e *edge) plain() bool { return slices.Equal(e.On, []string{string(wf.ClassSuccess)}) }

// traits are what a step has beside its kind.
func (n *node) traits() (words []string) {
	if n.Map {
		words = append(words, "forEach")
	}
	if n.Join == wf.JoinAny {
		words = append(words, "ANY")
	}
	if n.When != "" {
		words = append(words, "when "+n.When)
	}
	if n.Finally {
		words = append(words, "finally")
	}
	return words
}

// asText is a line for each step, after all that it needs.
func asText(d *drawn) (lines []string) {
	width := 0
	for i := range d.Steps {
		width = max(width, len(d.Steps[i].Name))
	}
	for i := range d.Steps {
		n := &d.Steps[i]
		line := fmt.Sprintf("%-*s  %-8s", width, n.Name, n.Kind)
		var from []string
		for k := range d.Edges {
			if e := &d.Edges[k]; e.To == n.Name {
				text := e.From
				if !e.plain() {
					text += " (" + strings.Join(e.On, ", ") + ")"
				}
				from = append(from, text)
			}
		}
		if len(from) > 0 {
			line += "  <- " + strings.Join(from, ", ")
		}
		if words := n.traits(); len(words) > 0 {
			line += "  [" + strings.Join(words, "; ") + "]"
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// asMermaid numbers the steps, as a name such as end is a word of the language.
func asMermaid(d *drawn) []string {
	lines, ids := []string{"flowchart TD"}, map[string]string{}
	quote := strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "#", "&num;", "\n", " ")
	for i := range d.Steps {
		n := &d.Steps[i]
		ids[n.Name] = fmt.Sprintf("s%d", i)
		label := quote.Replace(strings.Join(append([]string{n.Name, string(n.Kind)}, n.traits()...), " · "))
		lines = append(lines, fmt.Sprintf(`  %s["%s"]`, ids[n.Name], label))
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		arrow := "-->"
		if !e.plain() {
			arrow = "-->|" + strings.Join(e.On, ", ") + "|"
		}
		lines = append(lines, fmt.Sprintf("  %s %s %s", ids[e.From], arrow, ids[e.To]))
	}
	return lines
}

func asDOT(d *drawn) []string {
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
	}
	lines := []string{"digraph " + quote(d.Group+"/"+d.Name) + " {", "  node [shape=box];"}
	for i := range d.Steps {
		n := &d.Steps[i]
		label := strings.Join(append([]string{n.Name, string(n.Kind)}, n.traits()...), " · ")
		lines = append(lines, fmt.Sprintf("  %s [label=%s];", quote(n.Name), quote(label)))
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		line := fmt.Sprintf("  %s -> %s", quote(e.From), quote(e.To))
		if !e.plain() {
			line += " [label=" + quote(strings.Join(e.On, ", ")) + "]"
		}
		lines = append(lines, line+";")
	}
	return append(lines, "}")
}
