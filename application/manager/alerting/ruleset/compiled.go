package ruleset

import (
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Compiled keeps the conditions of rules of type EXPRESSION between turns, by id and version.
// Safe for concurrent use.
type Compiled struct {
	language alerting.Expressions
	mu       sync.Mutex
	kept     map[string]compiled
}

type compiled struct {
	version   int
	text      string
	condition alerting.Condition
	problems  []alerting.ExpressionProblem
}

// NewCompiled keeps nothing yet.
func NewCompiled(language alerting.Expressions) *Compiled {
	return &Compiled{language: language, kept: map[string]compiled{}}
}

// Of is the condition of a rule, or all that is wrong with it.
func (c *Compiled) Of(r *alert.Rule) (alerting.Condition, []alerting.ExpressionProblem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, known := c.kept[r.ID]; known && k.version == r.Version && k.text == r.Expression {
		return k.condition, k.problems
	}
	k := compiled{version: r.Version, text: r.Expression}
	k.condition, k.problems = c.language.Compile(r.Expression)
	c.kept[r.ID] = k
	return k.condition, k.problems
}

// Keep forgets all rules but these.
func (c *Compiled) Keep(rules map[string]*alert.Rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.kept {
		if rules[id] == nil {
			delete(c.kept, id)
		}
	}
}
