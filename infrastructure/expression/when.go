package expression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Whens checks and evaluates conditions of steps, in the language of rules. A condition reads params.NAME, and of steps
// status, reason and output. Safe for concurrent use.
type Whens struct{}

// The names that a condition begins with.
const (
	ofParams = "params"
	ofSteps  = "steps"
)

// fetcher is the name of the function that stands for each value that is read.
const fetcher = "fetch#"

// conditions names the language in complaints.
const conditions = "conditions"

// names are what the checks of the language know of a condition.
type names struct {
	Steps  map[string]any `expr:"steps"`
	Params map[string]any `expr:"params"`
}

// whenFacts are those of one evaluation.
type whenFacts struct {
	names

	Fetch func(path int) (any, error)         `expr:"fetch#"`
	Match func(text string, pattern int) bool `expr:"matches#"`
}

// when is a compiled condition.
type when struct {
	program  *vm.Program
	patterns []pattern
	paths    [][]string
}

// Check implements validate.Conditions.
func (Whens) Check(text string) (steps, problems []string) {
	c, found := compileWhen(text)
	for _, p := range found {
		problems = append(problems, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
	}
	if c == nil {
		return nil, problems
	}
	for _, path := range c.paths {
		if len(path) > 1 && path[0] == ofSteps && !slices.Contains(steps, path[1]) {
			steps = append(steps, path[1])
		}
	}
	return steps, problems
}

// Holds implements workflow.Conditions.
func (Whens) Holds(text string, facts workflow.Facts) (bool, error) {
	c, problems := compileWhen(text)
	if len(problems) > 0 {
		return false, fmt.Errorf("the condition cannot be read: %s", problems[0].Message)
	}
	var missing error
	env := whenFacts{
		Fetch: func(i int) (any, error) {
			value, err := fetch(c.paths[i], facts)
			if err != nil {
				missing = err
			}
			return value, err
		},
		Match: func(text string, i int) bool { return c.patterns[i].re.MatchString(head(text)) },
	}
	machine := vm.VM{MemoryBudget: memoryBudget}
	out, err := machine.Run(c.program, env)
	switch {
	case missing != nil:
		return false, missing
	case err != nil:
		return false, fmt.Errorf("the condition cannot be evaluated: %s", problemOf(err).Message)
	}
	holds, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("the condition cannot be evaluated: it is no comparison, and comes to a %s", kind(out))
	}
	return holds, nil
}

// kind names the type of a value for people.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case int, float64:
		return "number"
	}
	return "list or an object"
}

func compileWhen(text string) (*when, []alerting.ExpressionProblem) {
	at := func(format string, args ...any) []alerting.ExpressionProblem {
		return []alerting.ExpressionProblem{{Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}}
	}
	if len(text) > wf.MaxWhen {
		return nil, at("use at most %d bytes", wf.MaxWhen)
	}
	config := conf.New(names{})
	options(config)
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, []alerting.ExpressionProblem{whenProblem(err)}
	}
	g := &guard{source: tree.Source, uses: map[string]bool{}, sizes: map[string]int{}, language: conditions}
	ast.Walk(&tree.Node, g)
	g.readsOf(tree.Node)
	if len(g.problems) > 0 {
		return nil, g.problems
	}
	checked, err := expr.Compile(text, expr.Env(names{}), expr.AsBool(), options, expr.Optimize(false))
	if err != nil {
		return nil, []alerting.ExpressionProblem{whenProblem(err)}
	}
	root := checked.Node()
	ast.Walk(&root, visitor(g.typed))
	if len(g.problems) > 0 {
		return nil, g.problems
	}
	found, reads := &patterns{sizes: g.sizes}, &fetches{}
	program, err := expr.Compile(text, expr.Env(whenFacts{}), expr.AsBool(), options, expr.Patch(found),
		expr.Patch(reads))
	if err == nil {
		err = found.err
	}
	switch {
	case err != nil:
		return nil, []alerting.ExpressionProblem{whenProblem(err)}
	case len(reads.paths) == 0 || constant(program.Node()):
		return nil, at("it has the same answer in every run; compare a value, as in: steps.load.output.rows > 0")
	}
	return &when{program: program, patterns: found.all, paths: reads.paths}, nil
}

// whenProblem is problemOf, with the remedy for the names of conditions.
func whenProblem(err error) alerting.ExpressionProblem {
	p := problemOf(err)
	if before, _, is := strings.Cut(p.Message, "; the fields are"); is {
		p.Message = before + `; a condition reads params.NAME and steps.NAME.output.FIELD, and steps["a-b"].status ` +
			`where a name has a dash`
	}
	return p
}

// readsOf refuses what is read of steps and is not there, such as a misspelt part or status.
func (g *guard) readsOf(root ast.Node) {
	inner := map[ast.Node]bool{}
	ast.Walk(&root, visitor(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.MemberNode:
			inner[n.Node] = true
		case *ast.BinaryNode:
			g.statuses(n)
		}
	}))
	ast.Walk(&root, visitor(func(n ast.Node) {
		if path, _ := pathOf(n); len(path) > 0 && !inner[n] {
			g.part(n, path)
		}
	}))
}

func (g *guard) part(n ast.Node, path []string) {
	const remedy = "; write steps.NAME.output.FIELD, steps.NAME.status or steps.NAME.reason"
	switch {
	case path[0] == ofParams && len(path) == 1:
		g.refuse(n, "names no parameter; write params.NAME")
	case path[0] != ofSteps:
	case len(path) < 3:
		g.refuse(n, "%s is no value%s", strings.Join(path, "."), remedy)
	case path[2] != placeholder.PartOutput && (len(path) > 3 ||
		path[2] != placeholder.PartStatus && path[2] != placeholder.PartReason):
		g.refuse(n, "%s is no part of a step%s", strings.Join(path, "."), remedy)
	}
}

// statuses refuses a comparison with a status that no step ends in.
func (g *guard) statuses(n *ast.BinaryNode) {
	check := func(field, value ast.Node) {
		path, _ := pathOf(field)
		text, isText := value.(*ast.StringNode)
		if len(path) != 3 || path[0] != ofSteps || path[2] != placeholder.PartStatus || !isText {
			return
		}
		final := slices.DeleteFunc(slices.Clone(entity.Statuses()), func(s entity.Status) bool { return !s.Final() })
		if !slices.Contains(final, entity.Status(text.Value)) {
			g.refuse(text, "no step ends as %q; use one of %s", text.Value, strings.Join(texts(final), ", "))
		}
	}
	switch n.Operator {
	case "==", "!=":
		check(n.Left, n.Right)
		check(n.Right, n.Left)
	case "in":
		if list, is := n.Right.(*ast.ArrayNode); is {
			for _, value := range list.Nodes {
				check(n.Left, value)
			}
		}
	}
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// pathOf are the names that lead to a value; ok is false for what is no such path.
func pathOf(n ast.Node) (path []string, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}, n.Value == ofSteps || n.Value == ofParams
	case *ast.MemberNode:
		above, ok := pathOf(n.Node)
		name, constant := n.Property.(*ast.StringNode)
		if !ok || !constant {
			return nil, false
		}
		return append(above, name.Value), true
	}
	return nil, false
}

// fetches puts calls of the fetcher in the place of all that is read. A value that is missing is then an error where it
// is needed, and nowhere else.
type fetches struct{ paths [][]string }

// Visit implements ast.Visitor. Inner names come first: a call for steps.load becomes part of the one for
// steps.load.status.
func (f *fetches) Visit(node *ast.Node) {
	n, is := (*node).(*ast.MemberNode)
	if !is {
		return
	}
	path, ok := pathOf(n)
	name, constant := n.Property.(*ast.StringNode)
	if call, fetched := n.Node.(*ast.CallNode); !ok && fetched && constant && len(call.Arguments) == 1 {
		if i, isIndex := call.Arguments[0].(*ast.IntegerNode); isIndex && call.Callee.String() == fetcher {
			path, ok = append(slices.Clone(f.paths[i.Value]), name.Value), true
		}
	}
	if !ok {
		return
	}
	f.paths = append(f.paths, path)
	ast.Patch(node, &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: fetcher},
		Arguments: []ast.Node{&ast.IntegerNode{Value: len(f.paths) - 1}},
	})
}

// fetch reads a value of the facts.
func fetch(path []string, facts workflow.Facts) (any, error) {
	missing := &workflow.MissingError{Path: path}
	raw, rest := facts.Params, path[1:]
	if path[0] == ofSteps {
		end, ended := facts.Ends[path[1]]
		rest = path[3:]
		switch {
		case !ended:
			return nil, missing
		case path[2] == placeholder.PartStatus:
			return end.Status, nil
		case path[2] == placeholder.PartReason:
			return end.Reason, nil
		}
		raw = end.Output
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, missing
	}
	for _, name := range rest {
		object, _ := value.(map[string]any)
		value = object[name] // nothing where there is no object
	}
	if value == nil {
		return nil, missing
	}
	return plain(value), nil
}

// plain makes numbers of a decoded value those of the language: whole ones stay exact.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.Atoi(v.String()); err == nil {
			return i
		}
		f, _ := v.Float64() // beyond its range it is infinite
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(v[name])
		}
	}
	return v
}
