package expression

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Steps that an evaluation costs beside its patterns. A step is about what one character of a
// text costs one instruction of a pattern: some 10 ns.
const (
	// baseSteps are those of any evaluation, and nodeSteps those of each name and operator.
	baseSteps = 100
	nodeSteps = 10
)

// matcher is the name of the function that stands for "matches" in a compiled expression. No
// expression can name it: names are checked before it is known.
const matcher = "matches#"

// metered are the facts of one evaluation, with the function that matches and counts.
type metered struct {
	alerting.Facts

	Match func(text string, pattern int) bool `expr:"matches#"`
}

// pattern is a compiled pattern and its size in instructions.
type pattern struct {
	re   *regexp.Regexp
	size int
}

// patterns are those of an expression. As a visitor they put calls of matcher in the place of
// the operator "matches".
type patterns struct {
	sizes map[string]int
	all   []pattern
	err   error
}

// Visit implements ast.Visitor.
func (p *patterns) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != "matches" {
		return
	}
	text, ok := n.Right.(*ast.StringNode)
	if !ok {
		p.err = fmt.Errorf("a pattern is no constant")
		return
	}
	re, err := regexp.Compile(text.Value)
	if err != nil {
		p.err = fmt.Errorf("compile a pattern: %w", err)
		return
	}
	p.all = append(p.all, pattern{re, p.sizes[text.Value]})
	ast.Patch(node, &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: matcher},
		Arguments: []ast.Node{n.Left, &ast.IntegerNode{Value: len(p.all) - 1}},
	})
}

// head is what "matches" sees of a text: its first bytes, whole characters alone.
func head(text string) string {
	if len(text) <= alerting.MaxMatched {
		return text
	}
	end := alerting.MaxMatched
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
