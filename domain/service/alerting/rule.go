package alerting

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of a rule.
const (
	MaxSeconds = 30 * 24 * 3600
	maxInARow  = 100
	maxDepth   = 10_000
	maxWorkers = 10_000
)

// ValidateRule lists everything that is wrong with a rule, in the order of the API's
// fields; none is a good rule.
func ValidateRule(r *alert.Rule, expressions Expressions) []apperror.Field {
	c := &checks{}
	if r.Name == "" {
		c.add("name", validation.CodeRequired, "give it a name")
	} else {
		c.line("name", r.Name, validation.MaxName)
	}
	known := slices.Contains(alert.RuleTypes(), r.Type)
	if !known {
		c.add("type", validation.CodeUnknown, "use one of %v", alert.RuleTypes())
	}
	if !slices.Contains([]alert.Level{alert.Info, alert.Warning, alert.Critical}, r.Level) {
		c.add("level", validation.CodeUnknown, "use INFO, WARNING or CRITICAL")
	}
	c.scope(r)
	if known { // nobody knows what an unknown type measures
		c.numbers(r)
		c.durations(r)
	}
	c.notify(r)
	c.expression(r, expressions)
	c.ids("channelIds", r.ChannelIDs, bounds.List)
	c.actions(r)
	c.fields = append(c.fields, validation.Labels("labels", r.Labels)...)
	for _, name := range OwnLabels() {
		if _, taken := r.Labels[name]; taken {
			c.add(
				"labels."+name,
				validation.CodeConflict,
				"this label says what an alert is about: leave it out, or name another",
			)
		}
	}
	return c.fields
}

// OwnLabels are the labels that say what an alert is about. Routes, silences and receivers of all
// groups go by them, so that no rule may give them.
func OwnLabels() []string {
	return []string{"alertname", "severity", "job", "group", "node", "rule", "channel"}
}

// scope checks which jobs a rule sees.
func (c *checks) scope(r *alert.Rule) {
	c.ids("scope.jobIds", r.Scope.JobIDs, bounds.ScopeJobs)
	c.list("scope.groups", len(r.Scope.Groups), bounds.List)
	if len(r.Scope.Groups) <= bounds.List {
		for i, name := range r.Scope.Groups {
			if wrong := validation.GroupName(name); wrong != "" {
				c.add(fmt.Sprintf("scope.groups[%d]", i), validation.CodeInvalid, "%s", wrong)
			} else if r.Group != "" && name != r.Group {
				c.add(fmt.Sprintf("scope.groups[%d]", i), validation.CodeConflict,
					"the rule belongs to the group %s and sees no job of another: leave it out", r.Group)
			}
		}
	}
	c.fields = append(c.fields, validation.Labels("scope.labels", r.Scope.Labels)...)
	if r.Group != "" {
		if wrong := validation.GroupName(r.Group); wrong != "" {
			c.add("group", validation.CodeInvalid, "%s", wrong)
		}
	}
	if r.Scope.Steps && !r.Type.SeesSteps() {
		c.add("scope.steps", validation.CodeConflict, "a rule of type %s sees no steps of workflows: leave it out", r.Type)
	}
	switch {
	case r.Type == alert.WorkersFew:
		if len(r.Scope.JobIDs) > 0 || len(r.Scope.Labels) > 0 {
			c.add("scope", validation.CodeConflict, "a rule of type %s sees the worker groups that serve groups of jobs: name "+
				"groups alone", r.Type)
		}
	case !r.Type.AboutJobs():
		if !r.Scope.All() {
			c.add("scope", validation.CodeConflict, "a rule of type %s is about the cluster: leave the scope out", r.Type)
		}
		if r.Group != "" {
			c.add("group", validation.CodeConflict, "a rule of type %s is about the cluster: leave the group out", r.Type)
		}
	case r.Type == alert.JobSucceeded && r.Scope.All():
		c.add("scope", validation.CodeRequired,
			"it would fire for each run of each job: name jobs, groups or labels")
	}
}

// numbers checks what a type measures.
func (c *checks) numbers(r *alert.Rule) {
	limits := map[alert.RuleType]struct {
		low, high float64
		whole     bool
		what      string
	}{
		alert.ConsecutiveFailures: {2, maxInARow, true, "how many runs fail in a row"},
		alert.FailureRate:         {0.01, 1, false, "the share of runs that fail"},
		alert.QueueDepth:          {1, maxDepth, true, "how many runs wait"},
		alert.WorkersFew:          {1, maxWorkers, true, "how many workers a group has at least"},
		alert.Lateness:            {1, MaxSeconds, false, "how many seconds a run waits"},
		alert.ClockSkew:           {0, MaxSeconds, false, "how many seconds a clock is off, 0 for the default"},
		alert.NotFired:            {0, MaxSeconds, false, "how many seconds a fire may be late, 0 for the default"},
	}
	limit, measured := limits[r.Type]
	switch {
	case measured && !(r.Threshold >= limit.low && r.Threshold <= limit.high): // NaN is outside, too
		c.add("threshold", validation.CodeOutOfRange, "say %s: from %g to %g", limit.what, limit.low, limit.high)
	case measured && limit.whole && r.Threshold != math.Trunc(r.Threshold):
		c.add("threshold", validation.CodeInvalid, "say %s: use a whole number", limit.what)
	case !measured && r.Threshold != 0:
		c.add("threshold", validation.CodeConflict, "a rule of type %s has no threshold: leave it out", r.Type)
	}
	windowed := r.Type == alert.FailureRate || r.Type == alert.NothingRan
	switch {
	case windowed && (r.WindowSec < 60 || r.WindowSec > MaxSeconds):
		c.add("windowSec", validation.CodeOutOfRange, "say how many seconds to look back: from 60 to %d", MaxSeconds)
	case !windowed && r.WindowSec != 0:
		c.add("windowSec", validation.CodeConflict, "a rule of type %s has no window: leave it out", r.Type)
	}
}

// durations refuses those that a type does not know.
func (c *checks) durations(r *alert.Rule) {
	c.seconds("forSec", r.ForSec)
	c.seconds("keepSec", r.KeepSec)
	c.seconds("resolveAfterSec", r.ResolveAfterSec)
	if r.ForSec > 0 && !r.Type.IsLevel() {
		c.add("forSec", validation.CodeConflict, "what a rule of type %s finds has no duration: leave it out", r.Type)
	}
	if r.KeepSec > 0 && !r.Type.IsLevel() {
		c.add("keepSec", validation.CodeConflict, "a rule of type %s resolves by events: use resolveAfterSec", r.Type)
	}
	// NOT_FIRED and NO_NODE also find things that happened, which end by silence.
	lasting := r.Type.IsLevel() && r.Type != alert.NotFired && r.Type != alert.NoNode
	alone := lasting || r.Type.IsMomentary() || r.Type.Stands()
	if r.ResolveAfterSec > 0 && r.ResolveAfterSec <= MaxSeconds && alone {
		c.add("resolveAfterSec", validation.CodeConflict, "an alert of type %s ends by itself: leave it out", r.Type)
	}
}

func (c *checks) notify(r *alert.Rule) {
	if r.Notify != alert.NotifyFirst && r.Notify != alert.NotifyEach {
		c.add("notify", validation.CodeUnknown, "use FIRST or EACH")
	}
}

func (c *checks) expression(r *alert.Rule, expressions Expressions) {
	const field = "expression"
	switch {
	case r.Type != alert.Expression:
		if r.Expression != "" {
			c.add(field, validation.CodeConflict, "only a rule of type EXPRESSION has an expression")
		}
		return
	case strings.TrimSpace(r.Expression) == "":
		c.add(field, validation.CodeRequired, "say when the rule fires, such as: status == \"FAILED\"")
		return
	case len(r.Expression) > bounds.Expression:
		c.add(field, validation.CodeTooLong, "use at most %d bytes", bounds.Expression)
		return
	}
	condition, problems := expressions.Compile(r.Expression)
	for _, p := range problems {
		c.add(field, validation.CodeInvalid, "line %d, column %d: %s", p.Line, p.Column, p.Message)
	}
	if len(problems) > 0 {
		return
	}
	if steps := condition.Steps(); steps > MaxPatternSteps {
		c.add(field, validation.CodeTooLong,
			"the patterns have %d steps, and a rule may have %d: use shorter ones, and fewer repetitions such as {50}", steps,
			MaxPatternSteps)
	}
	bounded := r.Group != "" || len(r.Scope.JobIDs) > 0 || len(r.Scope.Groups) > 0
	switch {
	case holdsForAll(condition):
		c.add(field, validation.CodeConflict,
			"it holds for every end, so that it would fire for ever: add a condition such as status == \"FAILED\"")
	case !bounded && condition.MayHold(string(entity.StatusSuccess)):
		c.add("scope", validation.CodeRequired, "the expression may hold for runs that succeed, of which each costs a row: "+
			"name jobs or groups, or add a condition such as status != \"SUCCESS\"")
	}
}

// checks gathers wrong fields.
type checks struct{ fields []apperror.Field }

func (c *checks) add(field, code, format string, args ...any) {
	c.fields = append(c.fields, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// line checks a text of one line.
func (c *checks) line(field, s string, most int) {
	if remedy := validation.Line(s, most); remedy != "" {
		c.add(field, validation.CodeInvalid, "%s", remedy)
	}
}

// ids checks a list of ids.
func (c *checks) ids(field string, ids []string, most int) {
	c.list(field, len(ids), most)
	if len(ids) > most {
		return
	}
	for i, id := range ids {
		name := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case strings.TrimSpace(id) == "":
			c.add(name, validation.CodeRequired, "give an id, or leave the entry out")
		case slices.Contains(ids[:i], id):
			c.add(name, validation.CodeConflict, "name each once")
		default:
			c.line(name, id, bounds.ID)
		}
	}
}

func (c *checks) list(field string, n, most int) {
	if n > most {
		c.add(field, validation.CodeTooMany, "use at most %d", most)
	}
}

func (c *checks) seconds(field string, n int) {
	if n < 0 || n > MaxSeconds {
		c.add(field, validation.CodeOutOfRange, "use seconds from 0 to %d", MaxSeconds)
	}
}
