package template

import (
	"cmp"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// sentence names a text, and the details of an alert that it needs.
type sentence struct {
	name  string
	needs []string
}

// sentences are those of each type, of which the first is said whose details an alert has. The console has
// the same ones, which a test compares.
func sentences() map[string][]sentence {
	return map[string][]sentence{
		"JOB_FAILED":           {{"failed", []string{"job", "cause"}}},
		"JOB_SUCCEEDED":        {{"succeeded", []string{"job"}}},
		"RECOVERED":            {{"recovered", []string{"job"}}},
		"CONSECUTIVE_FAILURES": {{"consecutive", []string{"job", "runs", "cause"}}},
		"FAILURE_RATE":         {{"rate", []string{"job", "failed", "runs"}}},
		"TIMEOUT":              {{"timeout", []string{"job"}}},
		"DEAD_LETTER":          {{"dead", []string{"job", "cause"}}},
		"SLOW_RUN":             {{"slow", []string{"job", "valueMs", "usualMs"}}},
		"FASTER_THAN_USUAL":    {{"fast", []string{"job", "valueMs", "usualMs"}}},
		"FAILING_MORE":         {{"failingMore", []string{"job", "failed"}}},
		"DEADLINE_AT_RISK":     {{"atRisk", []string{"job", "expectedEnd", "deadline"}}},
		"EXPRESSION":           {{"expression", []string{"job", "expression"}}},
		"CLOCK_SKEW":           {{"skewBy", []string{"node", "offsetMs"}}, {"skew", []string{"node"}}},
		"NOTHING_RAN":          {{"nothing", []string{"quietSec", "expected"}}},
		"DEADLINE_MISSED":      {{"deadline", []string{"job", "scheduled", "deadline"}}},
		"NOT_FIRED": {
			{"skipped", []string{"job", "fires", "reason"}},
			{"notFired", []string{"job", "due"}},
			{"overdue", []string{"jobs"}},
			{"unplanned", []string{"job"}},
		},
		"LATENESS":    {{"late", []string{"queue", "waitSec"}}},
		"QUEUE_DEPTH": {{"depth", []string{"depth"}}},
		"NO_NODE": {
			{"noNode", []string{"job", "runs"}},
			{"noNodeMany", []string{"runs"}},
			{"noNodeSkipped", []string{"job"}},
		},
		"NODE_SUSPECT": {{"suspect", []string{"node"}}},
		"NODE_DOWN":    {{"down", []string{"node"}}},
		"DEGRADED": {
			{"degraded", []string{"part", "nodes", "why"}},
			{"suspended", []string{"rule", "until", "why"}},
		},
		"WORKERS_FEW":      {{"workersFew", []string{"workers", "up", "least"}}},
		"STEP_HELD":        {{"stepHeld", []string{"step", "job", "until"}}},
		"APPROVAL_WAITING": {{"approvalWaiting", []string{"step", "job", "until"}}},
		"WATCHDOG":         {{"watchdog", []string{}}},
		"DELIVERY_FAILED":  {{"delivery", []string{"channel", "message"}}},
		"TEST":             {{"test", []string{"channel"}}},
	}
}

// says is the sentence of an alert in the language of the words. The server's own is English: it stands in
// English, and where an alert has not the details that a sentence needs.
func (w words) says(a alert.MessageAlert) string {
	given := make(map[string]string, len(a.Details)+1)
	for name, value := range a.Details {
		given[name] = value
	}
	var parts []string
	for _, part := range []string{cmp.Or(given["reason"], given["status"]), given["message"]} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	given["cause"] = strings.Join(parts, ", ")
	for _, s := range sentences()[a.Type] {
		text, known := w.Sentences[s.name]
		var pairs []string
		for _, need := range s.needs {
			known = known && given[need] != ""
			pairs = append(pairs, "{"+need+"}", given[need])
		}
		if known {
			return strings.NewReplacer(pairs...).Replace(text)
		}
	}
	return a.Summary
}
