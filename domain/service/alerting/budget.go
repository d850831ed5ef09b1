package alerting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// These bounds say what expressions may cost. A step is what one instruction of a pattern costs for one byte
// of a text, some 10 ns.
const (
	// MaxMatched is how many bytes of a text "matches" sees: the first ones.
	MaxMatched = 512
	// MaxPatternSteps bounds the patterns of one rule, and MaxGroupPatternSteps those of all
	// enabled rules of a group together, in instructions.
	MaxPatternSteps      = 100
	MaxGroupPatternSteps = 2_000
	// GroupBudget is how many steps the rules of a group may take in BudgetSpan, and AllBudget
	// those of all groups. The rules for all groups are a group of their own.
	GroupBudget = 600_000_000
	AllBudget   = 1_500_000_000
	BudgetSpan  = time.Minute
	// SuspendFor is how long a rule does nothing that went beyond a budget.
	SuspendFor = 10 * time.Minute
)

// Budget counts what the rules of type EXPRESSION cost within a minute. The zero value is one
// in which nothing was spent. It is not safe for concurrent use.
type Budget struct {
	// began is when the minute began, in monotonic time.
	began  time.Duration
	groups map[string]*account
	total  int64
	// beyond counts how often all groups together went beyond their budget.
	beyond int
}

// account is what one group has spent.
type account struct {
	rules  map[string]*spent
	total  int64
	beyond int
}

type spent struct {
	rule *alert.Rule
	cost int64
}

// Spend counts what an evaluation of a rule has cost. Now is monotonic time. Over are the rules
// to suspend: those that cost most of the group that is beyond its budget, else of the group
// that has used most of what all may use. That is one rule; each further time within the same
// minute it is twice as many, so that many rules that cost alike end soon. The cost of a rule
// that is suspended counts no more, so that the others of its group go on.
func (b *Budget) Spend(now time.Duration, r *alert.Rule, cost int64) (over []alert.Suspension) {
	if b.groups == nil || now-b.began >= BudgetSpan || now < b.began {
		*b = Budget{began: now, groups: map[string]*account{}}
	}
	own := b.groups[r.Group]
	if own == nil {
		own = &account{rules: map[string]*spent{}}
		b.groups[r.Group] = own
	}
	of := own.rules[r.ID]
	if of == nil {
		of = &spent{rule: r}
		own.rules[r.ID] = of
	}
	of.cost += cost
	own.total += cost
	b.total += cost
	switch {
	case own.total > GroupBudget:
		over = b.dearest(own, &own.beyond, fmt.Sprintf("the rules of %s took more than %d million steps in a minute",
			groupName(r.Group), GroupBudget/1_000_000))
	case b.total > AllBudget:
		name := slices.MaxFunc(slices.Sorted(maps.Keys(b.groups)), func(x, y string) int {
			return cmp.Compare(b.groups[x].total, b.groups[y].total)
		})
		over = b.dearest(b.groups[name], &b.beyond, fmt.Sprintf(
			"the rules of all groups took more than %d million steps in a minute, and those of %s most of them",
			AllBudget/1_000_000, groupName(name)))
	}
	return over
}

// dearest takes the rules out of an account that have cost most.
func (b *Budget) dearest(of *account, beyond *int, why string) (over []alert.Suspension) {
	most := 1 << min(*beyond, 10)
	*beyond++
	for range most {
		if len(of.rules) == 0 {
			break
		}
		id := slices.MaxFunc(slices.Sorted(maps.Keys(of.rules)), func(x, y string) int {
			return cmp.Compare(of.rules[x].cost, of.rules[y].cost)
		})
		cost := of.rules[id].cost
		delete(of.rules, id)
		of.total -= cost
		b.total -= cost
		over = append(
			over,
			alert.Suspension{RuleID: id, Cost: cost, Why: fmt.Sprintf("%s, and this rule %d million of them", why,
				cost/1_000_000)},
		)
	}
	return over
}

func groupName(group string) string {
	if group == "" {
		return "all groups"
	}
	return "the group " + group
}

// Sized is an enabled rule with the size of its patterns.
type Sized struct {
	Rule  *alert.Rule
	Steps int
}

// Oversized are the suspensions of rules whose patterns are larger than rules may have: single
// ones, and the largest of a group whose rules have too many together. Rules that are saved now
// never are; those of former releases may be.
func Oversized(all []Sized) (out []alert.Suspension) {
	groups := map[string][]Sized{}
	for _, s := range all {
		if s.Steps > MaxPatternSteps {
			out = append(out, alert.Suspension{RuleID: s.Rule.ID, Why: fmt.Sprintf(
				"its patterns have %d steps, and a rule may have %d: shorten them", s.Steps, MaxPatternSteps)})
			continue
		}
		groups[s.Rule.Group] = append(groups[s.Rule.Group], s)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		rules, sum := groups[name], 0
		for _, s := range rules {
			sum += s.Steps
		}
		slices.SortFunc(rules, func(a, b Sized) int {
			return cmp.Or(cmp.Compare(b.Steps, a.Steps), cmp.Compare(a.Rule.ID, b.Rule.ID))
		})
		for _, s := range rules {
			if sum <= MaxGroupPatternSteps {
				break
			}
			sum -= s.Steps
			out = append(out, alert.Suspension{RuleID: s.Rule.ID, Why: fmt.Sprintf(
				"the patterns of the rules of %s have more than %d steps together: shorten some", groupName(name),
				MaxGroupPatternSteps)})
		}
	}
	return out
}
