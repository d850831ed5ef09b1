package expression

import (
	"github.com/expr-lang/expr/ast"
)

// truth is what is known of a condition when only the status of an end is.
type truth int

const (
	unknown truth = iota
	yes
	no
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// holdsFor says whether a condition holds for ends of a status, whatever else they are.
func holdsFor(n ast.Node, status string) truth {
	switch n := n.(type) {
	case *ast.BoolNode:
		return truthOf(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return not(holdsFor(n.Node, status))
		}
	case *ast.ConditionalNode:
		switch holdsFor(n.Cond, status) {
		case yes:
			return holdsFor(n.Exp1, status)
		case no:
			return holdsFor(n.Exp2, status)
		}
		if a := holdsFor(n.Exp1, status); a == holdsFor(n.Exp2, status) {
			return a
		}
	case *ast.BinaryNode:
		return both(n, status)
	}
	return unknown
}

func both(n *ast.BinaryNode, status string) truth {
	switch n.Operator {
	case "and", "&&":
		a, b := holdsFor(n.Left, status), holdsFor(n.Right, status)
		if a == no || b == no {
			return no
		}
		if a == yes && b == yes {
			return yes
		}
	case "or", "||":
		a, b := holdsFor(n.Left, status), holdsFor(n.Right, status)
		if a == yes || b == yes {
			return yes
		}
		if a == no && b == no {
			return no
		}
	case "==":
		return equal(n, status)
	case "!=":
		return not(equal(n, status))
	case "in":
		list, isList := n.Right.(*ast.ArrayNode)
		if !isList || !isStatus(n.Left) {
			return unknown
		}
		for _, value := range list.Nodes {
			text, isText := value.(*ast.StringNode)
			if !isText {
				return unknown
			}
			if text.Value == status {
				return yes
			}
		}
		return no
	}
	return unknown
}

func equal(n *ast.BinaryNode, status string) truth {
	for _, pair := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		if text, isText := pair[1].(*ast.StringNode); isText && isStatus(pair[0]) {
			return truthOf(text.Value == status)
		}
	}
	return unknown
}

func isStatus(n ast.Node) bool {
	name, is := n.(*ast.IdentifierNode)
	return is && name.Value == "status"
}

func not(t truth) truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}
