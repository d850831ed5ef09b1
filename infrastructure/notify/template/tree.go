package template

import (
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// The bounds of a template.
const (
	maxNodes = 1000
	// maxLoops is how deep loops may stand in each other: html/template reads what is in a loop
	// twice, and so what is in two loops four times.
	maxLoops = 8
)

// allowed are the functions that templates may use: ours, and those of text/template that can do no
// harm. Not allowed are printf, whose widths take memory at will, and what escapes on its own.
func allowed() []string {
	return []string{
		"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "print",
		"upper", "lower", "trim", "trunc", "default", "date", "duration", "word", "bold", "link",
	}
}

// The names of functions that check puts into a template, and that nobody else may use.
const (
	stepName   = "_step"
	escapeName = "_escape"
	listName   = "_list"
)

// positioned is an error of a template at a place.
type positioned struct {
	node parse.Node
	text string
}

// checker walks through a template: it refuses what is not allowed, and puts a counter into each
// loop. Where escaping is set, it has every output escaped.
type checker struct {
	step     parse.Node
	escape   *parse.CommandNode
	items    *parse.CommandNode
	escaping bool
	// strict has what each loop goes over looked at.
	strict bool
	nodes  int
	loops  int
	wrong  *positioned
}

func (c *checker) refuse(n parse.Node, format string, args ...any) {
	if c.wrong == nil {
		c.wrong = &positioned{node: n, text: fmt.Sprintf(format, args...)}
	}
}

func (c *checker) list(l *parse.ListNode, loop bool) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		c.node(n)
	}
	if loop {
		l.Nodes = slices.Insert(l.Nodes, 0, c.step.Copy())
	}
}

// node checks one node, and those below it.
func (c *checker) node(n parse.Node) {
	if c.nodes++; c.nodes > maxNodes {
		c.refuse(n, "is too large: at most %d parts are allowed", maxNodes)
		return
	}
	switch x := n.(type) {
	case *parse.ActionNode:
		c.pipe(x.Pipe)
		if c.escaping && len(x.Pipe.Decl) == 0 {
			escape, ok := c.escape.Copy().(*parse.CommandNode)
			if ok {
				x.Pipe.Cmds = append(x.Pipe.Cmds, escape)
			}
		}
	case *parse.IfNode:
		c.branch(&x.BranchNode, false)
	case *parse.WithNode:
		c.branch(&x.BranchNode, false)
	case *parse.RangeNode:
		c.branch(&x.BranchNode, true)
		if items, ok := c.items.Copy().(*parse.CommandNode); ok && c.strict {
			x.Pipe.Cmds = append(x.Pipe.Cmds, items)
		}
	case *parse.TemplateNode:
		c.refuse(n, "a template may not call another one")
	case *parse.IdentifierNode:
		if !slices.Contains(allowed(), x.Ident) {
			c.refuse(n, "the function %q is not known here", x.Ident)
		}
	case *parse.PipeNode:
		c.pipe(x)
	case *parse.ChainNode:
		c.node(x.Node)
	case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode, *parse.BoolNode, *parse.DotNode,
		*parse.FieldNode, *parse.NilNode, *parse.NumberNode, *parse.StringNode, *parse.VariableNode:
	default:
		c.refuse(n, "%s is not allowed here", reflect.TypeOf(n))
	}
}

func (c *checker) branch(b *parse.BranchNode, loop bool) {
	c.pipe(b.Pipe)
	if loop {
		if c.loops++; c.loops > maxLoops {
			c.refuse(b, "at most %d loops may stand in each other", maxLoops)
		}
		defer func() { c.loops-- }()
	}
	c.list(b.List, loop)
	c.list(b.ElseList, false)
}

func (c *checker) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, command := range p.Cmds {
		for _, argument := range command.Args {
			c.node(argument)
		}
	}
}
