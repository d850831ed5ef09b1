package validate

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

const (
	// maxVoters bounds the users, and the teams, that an approval names.
	maxVoters = 20
	// maxOutput bounds the names in output.
	maxOutput = 50
	week      = 7 * 24 * 3600
)

// kind checks what a step does.
func (c *checker) kind(i int) {
	s := &c.d.Steps[i]
	kinds := texts(s.Kinds())
	switch len(kinds) {
	case 0:
		c.add(field(i, ""), validation.CodeRequired, "does nothing; a step has one of %s",
			strings.Join(texts(wf.Kinds()), ", "))
		return
	case 1:
	default:
		c.add(field(i, ""), validation.CodeConflict, "has %s; a step has one of %s", strings.Join(kinds, " and "),
			strings.Join(texts(wf.Kinds()), ", "))
		return
	}
	before := len(c.Faults)
	switch s.Kind() {
	case wf.KindHTTP:
		c.object(field(i, ".http"), s.HTTP)
	case wf.KindCommand:
		c.object(field(i, ".command"), s.Command)
	case wf.KindCustom:
		c.text(field(i, ".custom.jobClass"), s.Custom.JobClass, bounds.Class, true)
		if len(s.Custom.Data) > 0 {
			c.object(field(i, ".custom.data"), s.Custom.Data)
		}
	case wf.KindJob:
		c.text(field(i, ".job.name"), s.Job.Name, bounds.Group+1+bounds.Name, true)
		if len(s.Job.Params) > 0 {
			c.object(field(i, ".job.params"), s.Job.Params)
		}
	case wf.KindApproval:
		c.approval(i, s.Approval)
	case wf.KindWait:
		c.wait(i, s.Wait)
	}
	if c.ports.Work != nil && len(c.Faults) == before {
		for _, f := range c.ports.Work.Check(s) {
			c.add(field(i, ".%s", f.Field), f.Code, "%s", f.Message)
		}
	}
}

// object checks that there is a JSON object of at most the size of jobData.
func (c *checker) object(field string, data json.RawMessage) {
	switch {
	case len(data) > bounds.DataBytes:
		c.add(field, validation.CodeTooLong, "shorten it to at most %d bytes; it has %d", bounds.DataBytes, len(data))
	case !validation.Object(string(data)):
		c.add(field, validation.CodeInvalid, "must be a JSON object, such as {}")
	}
}

func (c *checker) text(field, text string, most int, required bool) {
	switch {
	case required && strings.TrimSpace(text) == "":
		c.add(field, validation.CodeRequired, "is empty; name it")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		c.add(field, validation.CodeInvalid, "remove control characters and use UTF-8")
	case utf8.RuneCountInString(text) > most:
		c.add(field, validation.CodeTooLong, "shorten it to at most %d characters; it has %d", most,
			utf8.RuneCountInString(text))
	}
}

func (c *checker) approval(i int, a *wf.Approval) {
	c.between(field(i, ".approval.need"), a.Need, 0, wf.MaxVotes)
	if len(a.Teams) == 0 && len(a.Users) > 0 && a.Need > len(a.Users) {
		c.add(field(i, ".approval.need"), validation.CodeConflict,
			"%d of %d users can never approve; name more, or need fewer", a.Need, len(a.Users))
	}
	for _, voters := range []struct {
		name string
		list []string
	}{{"users", a.Users}, {"teams", a.Teams}} {
		name, list := voters.name, voters.list
		if len(list) > maxVoters {
			c.add(field(i, ".approval.%s", name), validation.CodeTooMany, "name at most %d; there are %d", maxVoters, len(list))
			continue
		}
		for k, one := range list {
			c.text(field(i, ".approval.%s[%d]", name, k), one, bounds.Name, true)
			if slices.Contains(list[:k], one) {
				c.add(field(i, ".approval.%s[%d]", name, k), validation.CodeConflict, "stands there already: each has one vote")
			}
		}
	}
	c.between(field(i, ".approval.timeoutSec"), a.TimeoutSec, 0, wf.MaxApprovalSec)
	c.oneOf(field(i, ".approval.onTimeout"), string(a.OnTimeout), texts(wf.OnTimeouts()))
	c.oneOf(field(i, ".approval.notBy"), string(a.NotBy), []string{string(wf.NotByTriggerer)})
	c.text(field(i, ".approval.text"), a.Text, wf.MaxText, false)
}

func (c *checker) wait(i int, w *wf.Wait) {
	switch {
	case (w.ForSec == 0) == (w.Until == ""):
		c.add(field(i, ".wait"), validation.CodeRequired, "give it one of forSec and until")
	case w.Until == "":
		c.between(field(i, ".wait.forSec"), w.ForSec, 1, wf.MaxWaitSec)
	case !placeholder.Holds(w.Until):
		if _, err := time.Parse(time.RFC3339, w.Until); err != nil {
			c.add(field(i, ".wait.until"), validation.CodeInvalid,
				"%q is no moment; write it as 2026-11-20T12:00:00+08:00, or with placeholders", validation.Text(w.Until, 50))
		}
	}
}

// attributes checks what a step has beside its work. Attributes without an effect are refused.
func (c *checker) attributes(i int) {
	s := &c.d.Steps[i]
	c.between(field(i, ".timeoutSec"), s.TimeoutSec, 0, week)
	c.between(field(i, ".startDeadlineSec"), s.StartDeadlineSec, 0, week)
	c.between(field(i, ".priority"), s.Priority, 0, 10)
	if s.RetryPolicy != nil {
		for _, f := range validation.Retry(*s.RetryPolicy) {
			c.add(field(i, ".%s", f.Field), f.Code, "%s", f.Message)
		}
	}
	inline := s.Job == nil && s.Approval == nil && s.Wait == nil
	for _, attribute := range []struct {
		name  string
		given bool
	}{
		{"timeoutSec", s.TimeoutSec != 0},
		{"startDeadlineSec", s.StartDeadlineSec != 0},
		{"priority", s.Priority != 0},
		{"retryPolicy", s.RetryPolicy != nil},
	} {
		switch name := attribute.name; {
		case !attribute.given || inline:
		case s.Job != nil:
			c.add(field(i, ".%s", name), validation.CodeConflict, "is that of the job which the step starts; set it there")
		case name == "timeoutSec" && s.Approval != nil:
			c.add(field(i, ".timeoutSec"), validation.CodeConflict, "stands in approval.timeoutSec for an approval")
		default:
			c.add(field(i, ".%s", name), validation.CodeConflict, "has no effect on a step that only waits; leave it out")
		}
	}
	if s.Finally && (s.Approval != nil || s.Wait != nil) {
		c.add(field(i, ".finally"), validation.CodeConflict, "a step that runs last cannot wait; do something in it")
	}
	if len(s.When) > wf.MaxWhen {
		c.add(field(i, ".when"), validation.CodeTooLong, "shorten it to at most %d bytes; it has %d", wf.MaxWhen, len(s.When))
	}
	c.output(i, s)
}

func (c *checker) output(i int, s *wf.Step) {
	if len(s.Output) > maxOutput {
		c.add(field(i, ".output"), validation.CodeTooMany, "name at most %d parts; there are %d", maxOutput, len(s.Output))
		return
	}
	if len(s.Output) > 0 && (s.Approval != nil || s.Wait != nil) {
		c.add(field(i, ".output"), validation.CodeConflict, "a step that only waits has no result; leave output out")
	}
	for _, name := range sorted(s.Output) {
		where := field(i, ".output.%s", validation.Text(name, 50))
		if !placeholder.SecretName(name) || strings.Contains(name, ".") {
			c.add(where, validation.CodeInvalid, "a name has 1 to %d letters, digits, dashes and underscores",
				placeholder.MaxName)
		}
		if names := placeholder.SecretNames(s.Output[name]); len(names) > 0 {
			c.add(where, validation.CodeInvalid, "%s is a secret, and is not handed on; name it where it is used",
				placeholder.OfSecret(names[0]))
		} else if remedy := workflow.CheckOutput(s.Output[name]); remedy != "" {
			c.add(where, validation.CodeInvalid, "%s", remedy)
		}
	}
}

// forEach checks the list of a map.
func (c *checker) forEach(i int) {
	s := &c.d.Steps[i]
	f := s.ForEach
	if f == nil {
		return
	}
	where := field(i, ".forEach")
	if s.Job != nil || s.Approval != nil || s.Wait != nil {
		c.add(where, validation.CodeConflict, "is for http, command and custom alone; start the job from such a step")
	}
	c.between(where+".maxParallel", f.MaxParallel, 0, wf.MaxParallel)
	c.between(where+".maxItems", f.MaxItems, 0, wf.MaxItems)
	if t := f.Tolerate; t != nil {
		if t.Count != 0 && t.Percent != 0 {
			c.add(where+".tolerate", validation.CodeConflict, "has count and percent; give one of them")
		}
		c.between(where+".tolerate.count", t.Count, 0, wf.MaxItems)
		c.between(where+".tolerate.percent", t.Percent, 0, 100)
	}
	var text string
	var list []json.RawMessage
	switch {
	case len(f.Items) == 0 || string(f.Items) == "null":
		c.add(where+".items", validation.CodeRequired, "give a list, or a placeholder of one")
	case json.Unmarshal(f.Items, &text) == nil:
		if !placeholder.OnlyOne(text) {
			c.add(where+".items", validation.CodeInvalid, "%q is no list; give a list or a placeholder of one",
				validation.Text(text, 60))
		}
		if len(placeholder.SecretNames(text)) > 0 {
			c.add(where+".items", validation.CodeInvalid, "a secret is no list; secrets are not handed on")
		}
	case json.Unmarshal(f.Items, &list) != nil:
		c.add(where+".items", validation.CodeInvalid, "%s is no list; give a list or a placeholder of one",
			validation.Text(string(f.Items), 60))
	case len(list) > f.Most():
		c.add(where+".items", validation.CodeTooMany, "has %d items; at most %d are allowed", len(list), f.Most())
	}
}
