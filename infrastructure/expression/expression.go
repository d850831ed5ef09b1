// Package expression checks and runs the expressions of alert rules, and the conditions of steps. An expression is one
// condition without loops, variables and functions of its own: what it costs is known when
// it is saved.
package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// maxNodes is how many names, constants and operators an expression may have.
	maxNodes = 200
	// memoryBudget bounds the elements of lists that a run may make.
	memoryBudget = 10_000
)

// Language compiles expressions over alerting.Facts. Safe for concurrent use.
type Language struct{}

// Compile implements alerting.Expressions.
func (Language) Compile(text string) (alerting.Condition, []alerting.ExpressionProblem) {
	if len(text) > bounds.Expression {
		return nil, []alerting.ExpressionProblem{{
			Line: 1, Column: 1, Message: fmt.Sprintf("use at most %d bytes", bounds.Expression),
		}}
	}
	config := conf.New(alerting.Facts{})
	options(config)
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, []alerting.ExpressionProblem{problemOf(err)}
	}
	g := &guard{source: tree.Source, uses: map[string]bool{}, sizes: map[string]int{}, language: "rules"}
	ast.Walk(&tree.Node, g)
	// Names and types are checked as well, on what was written: to optimize would compute it.
	checked, err := expr.Compile(text, expr.Env(alerting.Facts{}), expr.AsBool(), options, expr.Optimize(false))
	if err != nil {
		if p := problemOf(err); !strings.HasPrefix(p.Message, "error parsing regexp") || len(g.problems) == 0 {
			g.add(p)
		}
		return nil, g.problems
	}
	root := checked.Node()
	ast.Walk(&root, visitor(g.typed))
	if len(g.problems) > 0 {
		return nil, g.problems
	}
	found := &patterns{sizes: g.sizes}
	program, err := expr.Compile(text, expr.Env(metered{}), expr.AsBool(), options, expr.Patch(found))
	if err == nil {
		err = found.err
	}
	if err != nil {
		return nil, []alerting.ExpressionProblem{problemOf(err)}
	}
	if len(g.uses) == 0 || constant(program.Node()) {
		return nil, []alerting.ExpressionProblem{{
			Line: 1, Column: 1, Message: "it has the same answer for every end; compare a field, as in: status == \"FAILED\"",
		}}
	}
	return &condition{
		program: program, uses: g.uses, root: tree.Node, patterns: found.all, steps: g.steps, texts: g.texts,
		fixed: baseSteps + nodeSteps*int64(g.nodes),
	}, nil
}

func options(c *conf.Config) {
	c.MaxNodes = maxNodes
	c.DisableIfOperator = true
	for name := range c.Builtins {
		if !slices.Contains(builtins(), name) {
			c.Disabled[name] = true
		}
	}
}

// problemOf keeps the position of an error, and its first line alone.
func problemOf(err error) alerting.ExpressionProblem {
	var at *file.Error
	if !errors.As(err, &at) {
		return alerting.ExpressionProblem{Line: 1, Column: 1, Message: remedy(err.Error())}
	}
	return alerting.ExpressionProblem{Line: max(at.Line, 1), Column: at.Column + 1, Message: remedy(at.Message)}
}

func constant(n ast.Node) bool {
	switch n.(type) {
	case *ast.BoolNode, *ast.ConstantNode:
		return true
	}
	return false
}

// condition implements alerting.Condition.
type condition struct {
	program  *vm.Program
	uses     map[string]bool
	root     ast.Node
	patterns []pattern
	// steps is the size of all patterns, texts counts functions and operators that read a
	// whole text, and fixed is what an evaluation costs beside both.
	steps, texts int
	fixed        int64
}

func (c *condition) MayHold(status string) bool { return holdsFor(c.root, status) != no }

func (c *condition) Uses(part string) bool { return c.uses[part] }

func (c *condition) Steps() int { return c.steps }

func (c *condition) Holds(f *alerting.Facts) (holds bool, cost int64, err error) {
	cost = c.fixed + int64(c.texts*len(f.Message))
	env := metered{Facts: *f, Match: func(text string, i int) bool {
		text = head(text)
		cost += int64(c.patterns[i].size) * int64(len(text))
		return c.patterns[i].re.MatchString(text)
	}}
	machine := vm.VM{MemoryBudget: memoryBudget}
	out, err := machine.Run(c.program, env)
	if err != nil {
		return false, cost, fmt.Errorf("evaluate an expression: %s", problemOf(err).Message)
	}
	holds, ok := out.(bool)
	if !ok {
		return false, cost, fmt.Errorf("evaluate an expression: the result is %T", out)
	}
	return holds, cost, nil
}
