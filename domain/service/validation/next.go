package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxNextBytes bounds all that a job says of the jobs that follow it, as JSON: parameters and channels share their
// place.
const MaxNextBytes = bounds.NextBytes

// next checks what can be said without a look at the jobs that there are. Values of params are checked where
// placeholders are known (chain.Check).
func (c *checker) next(j *entity.Job) {
	if n := len(j.Next); n > entity.MaxNext {
		c.add("next", CodeTooMany, "name at most %d jobs; there are %d", entity.MaxNext, n)
		return
	}
	if text, err := json.Marshal(j.Next); err == nil && len(text) > MaxNextBytes {
		c.add("next", CodeTooLarge, "keep at most %d KiB of JSON in all; shorten params", MaxNextBytes>>10)
	} else if n := alertsBytes(j); n > bounds.AlertsBytes && len(j.Next) > 0 {
		c.add("next", CodeTooLarge, "keep at most %d bytes of JSON together with parameters and channels; there are %d",
			bounds.AlertsBytes, n)
	}
	for i := range j.Next {
		n, field := &j.Next[i], fmt.Sprintf("next[%d]", i)
		switch {
		case n.Job == "" && strings.TrimSpace(n.Name) == "":
			c.add(field+".job", CodeRequired, "name a job of the group, or group/name")
		case slices.ContainsFunc(j.Next[:i], func(o entity.Next) bool { return o.Name == n.Name && o.On.Meets(n.On) }):
			c.add(field+".job", CodeConflict, "stands there already for that end, which starts a job once: leave one out")
		default:
			c.line(field+".job", n.Name, bounds.Group+1+bounds.Name)
		}
		oneOf(c, field+".on", n.On, entity.NextOns())
		if len(n.Params) > 0 && !Object(string(n.Params)) {
			c.add(field+".params", CodeInvalid, "must be a JSON object, such as {}")
		}
	}
}
