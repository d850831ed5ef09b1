package expression

import (
	"fmt"
	"reflect"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// maxPattern bounds the text of a pattern in bytes, and maxPatternSize the steps that
	// each character of a text costs. Rules that are saved keep to alerting.MaxPatternSteps,
	// which is less; those of former releases may have more.
	maxPattern     = 200
	maxPatternSize = 500
)

// builtins are the functions that an expression may call. None of them loops over more
// than its arguments.
func builtins() []string { return []string{"abs", "len", "lower", "max", "min", "upper"} }

// operators are those between two values.
func operators() []string {
	return []string{
		"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "+", "-", "*", "/", "in", "contains", "startsWith",
		"endsWith", "matches",
	}
}

// known are the values that a field may have; none where it may have any.
func known(field string) (values []string) {
	switch field {
	case "status":
		for _, s := range entity.Statuses() {
			if s.Final() {
				values = append(values, string(s))
			}
		}
	case "trigger":
		for _, t := range entity.Triggers() {
			values = append(values, string(t))
		}
	}
	return values
}

// guard refuses what the language has and rules do not, before anything is computed.
type guard struct {
	// language names it in complaints.
	language string
	source   file.Source
	uses     map[string]bool
	problems []alerting.ExpressionProblem
	// sizes are the steps of each pattern, and steps those of all.
	sizes map[string]int
	steps int
	// nodes counts names, constants and operators, and texts those that read a whole text.
	nodes, texts int
}

// visitor is a function as an ast.Visitor.
type visitor func(n ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n *ast.Node) { v(*n) }

func (g *guard) refuse(n ast.Node, format string, args ...any) {
	at := (&file.Error{Location: n.Location()}).Bind(g.source)
	g.add(alerting.ExpressionProblem{
		Line: max(at.Line, 1), Column: at.Column + 1, Message: fmt.Sprintf(format, args...),
	})
}

// add keeps the first problem of each position.
func (g *guard) add(p alerting.ExpressionProblem) {
	if !slices.ContainsFunc(g.problems, func(o alerting.ExpressionProblem) bool {
		return o.Line == p.Line && o.Column == p.Column
	}) {
		g.problems = append(g.problems, p)
	}
}

// Visit implements ast.Visitor.
func (g *guard) Visit(node *ast.Node) {
	g.nodes++
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") { // all fields at once, which would hide what is read
			g.refuse(n, "%s have no %s; name the field itself, as in: status == \"FAILED\"", g.language, n.Value)
		}
		g.uses[n.Value] = true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.ArrayNode, *ast.ConditionalNode:
	case *ast.UnaryNode:
		// All operators of one value are well.
	case *ast.BinaryNode:
		g.binary(n)
	case *ast.MemberNode:
		if _, number := n.Property.(*ast.IntegerNode); number && g.language == conditions {
			g.refuse(n, "%s read no item of a list by its number; name the item where the list is made, as in "+
				"output: {first: \"${result.list[0]}\"}", g.language)
		} else if _, constant := n.Property.(*ast.StringNode); !constant || n.Method {
			g.refuse(n, "name a field by a constant, as in job.labels[\"team\"]")
		}
	case *ast.BuiltinNode:
		if !slices.Contains(builtins(), n.Name) {
			g.refuse(n, "%s have no function %s; use one of %s", g.language, n.Name, strings.Join(builtins(), ", "))
		}
		if n.Name == "lower" || n.Name == "upper" {
			g.texts++
		}
	case *ast.CallNode:
		g.refuse(n, "%s have no such function; use one of %s", g.language, strings.Join(builtins(), ", "))
	case *ast.NilNode:
		g.refuse(n, "nothing is nil here: a missing text is \"\", a missing number 0")
	default:
		g.refuse(n, "use conditions alone: %s have no loops, variables, maps and slices", g.language)
	}
}

func (g *guard) binary(n *ast.BinaryNode) {
	switch {
	case !slices.Contains(operators(), n.Operator):
		g.refuse(n, "%s have no operator %s; use one of %s", g.language, n.Operator, strings.Join(operators(), " "))
	case n.Operator == "matches":
		g.pattern(n)
	case n.Operator == "contains" || n.Operator == "startsWith" || n.Operator == "endsWith":
		g.texts++
	case n.Operator == "==" || n.Operator == "!=":
		g.oneOf(n.Left, n.Right)
		g.oneOf(n.Right, n.Left)
	case n.Operator == "in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			for _, value := range list.Nodes {
				g.oneOf(n.Left, value)
			}
		}
	}
}

// pattern refuses a pattern that is made while the rule runs, or that costs too much.
func (g *guard) pattern(n *ast.BinaryNode) {
	text, constant := n.Right.(*ast.StringNode)
	if !constant {
		g.refuse(n.Right, "give the pattern as a constant")
		return
	}
	if len(text.Value) > maxPattern {
		g.refuse(text, "use a pattern of at most %d bytes", maxPattern)
		return
	}
	parsed, err := syntax.Parse(text.Value, syntax.Perl)
	if err != nil {
		g.refuse(text, "the pattern cannot be read: %s", err)
		return
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		g.refuse(text, "the pattern cannot be read: %s", err)
		return
	}
	g.sizes[text.Value] = len(program.Inst)
	if g.steps += len(program.Inst); g.steps > maxPatternSize {
		g.refuse(text, "the patterns are too large; use fewer repetitions such as {100}")
	}
}

// oneOf refuses a value that a field never has, such as a misspelt status.
func (g *guard) oneOf(field, value ast.Node) {
	name, isField := field.(*ast.IdentifierNode)
	text, isText := value.(*ast.StringNode)
	if !isField || !isText {
		return
	}
	values := known(name.Value)
	if len(values) > 0 && !slices.Contains(values, text.Value) {
		g.refuse(text, "%s is never %q; use one of %s", name.Value, text.Value, strings.Join(values, ", "))
	}
}

// typed refuses what only types tell: texts that grow, and comparisons that say nothing.
func (g *guard) typed(n ast.Node) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return
	}
	left, right := kindOf(b.Left), kindOf(b.Right)
	switch b.Operator {
	case "+":
		if left == reflect.String || right == reflect.String {
			g.refuse(n, "texts cannot be joined; compare them one by one")
		}
	case "/":
		if isZero(b.Right) {
			g.refuse(b.Right, "nothing can be divided by 0")
		}
	case "in":
		if list, isList := b.Right.(*ast.ArrayNode); isList && len(list.Nodes) == 0 {
			g.refuse(b.Right, "nothing is in an empty list; name values, as in: status in [\"FAILED\", \"DEAD\"]")
		}
		if right == reflect.Struct {
			g.refuse(b.Right, "is no list; name values, as in: job.group in [\"a\", \"b\"]")
		}
	case "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches":
		switch {
		case left == reflect.Struct || left == reflect.Map || right == reflect.Struct || right == reflect.Map:
			g.refuse(n, "compare a field of it, as in: job.name == \"a\"")
		case b.Left.String() == b.Right.String():
			g.refuse(n, "both sides are the same; compare a field with a value or with another field")
		case isConstant(b.Left) && isConstant(b.Right):
			g.refuse(n, "both sides are constants; compare a field, as in: status == \"FAILED\"")
		}
	}
}

// kindOf is the kind of the values of a node; Invalid where the language knows none.
func kindOf(n ast.Node) reflect.Kind {
	if t := n.Type(); t != nil {
		return t.Kind()
	}
	return reflect.Invalid
}

func isZero(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return n.Value == 0
	case *ast.FloatNode:
		return n.Value == 0
	}
	return false
}

// isConstant reports that a node names no field.
func isConstant(n ast.Node) bool {
	constant := true
	ast.Walk(&n, visitor(func(inner ast.Node) {
		if _, field := inner.(*ast.IdentifierNode); field {
			constant = false
		}
	}))
	return constant
}

// remedy makes an error of the language shorter, and says what there is where a name is
// unknown.
func remedy(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	switch {
	case message == "unexpected token EOF":
		return "it ends too early: a value or a bracket is missing"
	case strings.HasPrefix(message, "unknown name"):
		return message + "; the fields are " + strings.Join(fields(), ", ")
	}
	return message
}

func fields() (out []string) {
	t := reflect.TypeFor[alerting.Facts]()
	for i := range t.NumField() {
		out = append(out, t.Field(i).Tag.Get("expr"))
	}
	return out
}
