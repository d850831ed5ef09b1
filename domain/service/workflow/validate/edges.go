package validate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// edges checks the needs of a step.
func (c *checker) edges(i int) {
	s := &c.d.Steps[i]
	if s.Finally && (len(s.Needs) > 0 || s.Join != "" || s.MinSuccess != 0) {
		c.add(field(i, ".finally"), validation.CodeConflict,
			"runs after all others anyway; leave needs, join and minSuccess out")
	}
	for k := range s.Needs {
		c.need(i, k)
	}
	c.oneOf(field(i, ".join"), string(s.Join), texts(wf.Joins()))
	switch {
	case s.MinSuccess < 0:
		c.add(field(i, ".minSuccess"), validation.CodeOutOfRange, "must be 0 or more; it is %d", s.MinSuccess)
	case s.MinSuccess > 0 && s.Any():
		c.add(field(i, ".minSuccess"), validation.CodeConflict, "never adds anything to join ANY; leave it out")
	case s.MinSuccess > 0:
		able := 0
		for k := range s.Needs {
			if s.Needs[k].Accepts(wf.ClassSuccess) {
				able++
			}
		}
		if s.MinSuccess > able {
			c.add(field(i, ".minSuccess"), validation.CodeOutOfRange, "%d of %d needs that take a success can never be met",
				s.MinSuccess, able)
		}
	}
}

func (c *checker) need(i, k int) {
	s, n := &c.d.Steps[i], &c.d.Steps[i].Needs[k]
	where := field(i, ".needs[%d]", k)
	at, known := c.at[n.Step]
	switch {
	case !known:
		c.whole = false
		names := make([]string, 0, len(c.d.Steps))
		for at := range c.d.Steps {
			if at != i {
				names = append(names, c.d.Steps[at].Name)
			}
		}
		c.add(where, validation.CodeUnknown, "%q is no step here%s", validation.Text(n.Step, 2*wf.MaxName),
			meant(n.Step, names))
	case at == i:
		c.add(where, validation.CodeConflict, "a step cannot need itself; take it away")
	case c.d.Steps[at].Finally:
		c.add(field(at, ".finally"), validation.CodeConflict,
			"is needed by %q; steps that run last cannot be needed", s.Name)
	case slices.ContainsFunc(s.Needs[:k], func(o wf.Need) bool { return o.Step == n.Step }):
		c.add(where, validation.CodeConflict, "%q stands there already; name all its outcomes in one need", n.Step)
	}
	if n.On != nil && len(n.On) == 0 {
		c.add(where+".on", validation.CodeRequired, "is empty; name at least one of %s", strings.Join(wf.Words(), ", "))
	}
	for m, w := range n.On {
		if len(w.Classes()) == 0 {
			c.oneOf(where+".on["+strconv.Itoa(m)+"]", string(w), wf.Words())
			if w == "" {
				c.add(where+".on", validation.CodeRequired, "name one of %s", strings.Join(wf.Words(), ", "))
			}
		}
	}
}

// circle reports whether steps need one another in a circle; if not, c.order is known.
func (c *checker) circle() bool {
	all := make([]int, len(c.d.Steps))
	for i := range all {
		all[i] = i
	}
	needs := func(i int) (out []int) {
		for k := range c.d.Steps[i].Needs {
			if at, known := c.at[c.d.Steps[i].Needs[k].Step]; known && at != i {
				out = append(out, at)
			}
		}
		return out
	}
	if _, circle := chain.Circle(all, needs); len(circle) > 0 {
		names := make([]string, len(circle))
		for i, at := range circle {
			names[i] = strconv.Quote(validation.Text(c.d.Steps[at].Name, wf.MaxName))
		}
		c.add("steps", validation.CodeConflict, "%s is a circle; take one of these needs away",
			validation.Text(strings.Join(names, " → "), 400))
		return true
	}
	placed := make([]bool, len(all))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, at := range needs(i) {
			place(at)
		}
		c.order = append(c.order, i)
	}
	for i := range all {
		place(i)
	}
	return false
}

// reach finds which steps certainly have ended, and succeeded, when another one starts.
func (c *checker) reach() {
	n := len(c.d.Steps)
	c.ended, c.succeeded = make([]map[int]bool, n), make([]map[int]bool, n)
	for _, i := range c.order {
		s := &c.d.Steps[i]
		c.ended[i], c.succeeded[i] = map[int]bool{}, map[int]bool{}
		for k := range s.Needs {
			at := c.at[s.Needs[k].Step]
			ended, succeeded := with(c.ended[at], at), map[int]bool{}
			if only(&s.Needs[k], wf.ClassSuccess) {
				succeeded = with(c.succeeded[at], at)
			}
			if k == 0 || !s.Any() {
				add(c.ended[i], ended)
				add(c.succeeded[i], succeeded)
				continue
			}
			keep(c.ended[i], ended)
			keep(c.succeeded[i], succeeded)
		}
		if s.Finally {
			for other := range c.d.Steps {
				if !c.d.Steps[other].Finally {
					c.ended[i][other] = true
				}
			}
		}
	}
}

func with(set map[int]bool, i int) map[int]bool {
	out := map[int]bool{i: true}
	add(out, set)
	return out
}

func add(to, set map[int]bool) {
	for i := range set {
		to[i] = true
	}
}

// keep takes out what is not in both.
func keep(to, set map[int]bool) {
	for i := range to {
		if !set[i] {
			delete(to, i)
		}
	}
}

// only reports whether a need takes one class alone.
func only(n *wf.Need, class wf.Class) bool {
	for _, c := range wf.Classes() {
		if n.Accepts(c) != (c == class) {
			return false
		}
	}
	return true
}

// never warns of steps that no outcome lets run: it asks each need alone.
func (c *checker) never() {
	possible := make([]map[wf.Class]bool, len(c.d.Steps))
	for _, i := range c.order {
		s := &c.d.Steps[i]
		met := 0
		mine := map[wf.Class]bool{}
		for k := range s.Needs {
			n, of := &s.Needs[k], possible[c.at[s.Needs[k].Step]]
			can := false
			for class := range of {
				can = can || n.Accepts(class)
				if n.Accepts(class) && !s.Any() && s.MinSuccess == 0 {
					continue
				}
				mine[wf.ClassSkipped] = true
				if class == wf.ClassFailure || class == wf.ClassBlocked {
					mine[wf.ClassBlocked] = true
				}
			}
			if can {
				met++
			}
		}
		if len(s.Needs) == 0 || met == len(s.Needs) || s.Any() && met > 0 {
			mine[wf.ClassSuccess], mine[wf.ClassFailure] = true, true
			if s.When != "" || s.Approval != nil || s.Wait != nil || len(s.Needs) == 0 {
				mine[wf.ClassSkipped] = true // also by the word of a person
			}
		} else {
			c.Warnings = append(c.Warnings, apperror.Field{
				Field: field(i, ".needs"), Code: validation.CodeConflict,
				Message: "can never run: no end of the steps that it needs is one that it asks for",
			})
		}
		possible[i] = mine
	}
}
