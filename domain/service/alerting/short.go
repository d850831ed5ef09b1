package alerting

import (
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// The kinds of rules that a job carries itself. The id of such a rule is the kind, a colon
// and the id of the job.
const (
	shortFailure   = "onFailure"
	shortSuccess   = "onSuccess"
	shortLate      = "onLate"
	shortMissed    = "onMissed"
	shortAtRisk    = "onAtRisk"
	shortRecovered = "onRecovered"
)

// listEnd is the list of a job that is about failures and successes.
const listEnd = "onEnd"

// ShortRules are the rules that a job carries itself. They tell of each piece of evidence,
// at most once a minute. A job that is to tell of recoveries has a rule about failures,
// too: without an episode there is nothing to recover from.
func ShortRules(j Job) (out []*alert.Rule) {
	if j.Alerts.Nothing() && !j.Deadline {
		return nil
	}
	add := func(kind string, t alert.RuleType, level alert.Level, wanted bool, lists ...[]string) {
		if !wanted {
			return
		}
		names := slices.Concat(lists...)
		slices.Sort(names)
		out = append(out, &alert.Rule{
			Head: alert.Head{ID: kind + ":" + j.ID, Name: "alerts." + written(kind, &j.Alerts), Group: j.Group, Enabled: true},
			Type: t, Level: level, Scope: alert.Scope{JobIDs: []string{j.ID}}, Notify: alert.NotifyEach,
			ChannelIDs: slices.Compact(names),
		})
	}
	a := &j.Alerts
	add(shortFailure, alert.JobFailed, alert.Warning, len(a.OnFailure)+len(a.OnEnd)+len(a.OnRecovered) > 0, a.OnFailure,
		a.OnEnd)
	add(shortSuccess, alert.JobSucceeded, alert.Info, a.Successes(), a.OnSuccess, a.OnEnd)
	late := len(a.OnLate) > 0
	add(shortLate, alert.NotFired, alert.Warning, late, a.OnLate)
	if late {
		out[len(out)-1].Threshold = float64(a.LateAfterSec)
	}
	add(shortMissed, alert.DeadlineMissed, alert.Critical, j.Deadline, a.OnLate)
	add(shortAtRisk, alert.DeadlineAtRisk, alert.Warning, j.Deadline, a.OnLate)
	add(shortRecovered, alert.Recovered, alert.Info, len(a.OnRecovered) > 0, a.OnRecovered)
	return out
}

// written is the list of a job that a kind stands for: what a user finds in the job when a
// message names the rule.
func written(kind string, a *entity.JobAlerts) string {
	switch {
	case kind == shortMissed || kind == shortAtRisk:
		return shortLate
	case kind == shortFailure && len(a.OnFailure) == 0 && len(a.OnEnd) == 0:
		return shortRecovered
	case kind == shortFailure && len(a.OnFailure) == 0, kind == shortSuccess && len(a.OnSuccess) == 0:
		return listEnd
	}
	return kind
}

// ShortRuleOf returns the job that carries a rule itself; ok is false for all other rules.
func ShortRuleOf(ruleID string) (jobID string, ok bool) {
	kind, jobID, ok := strings.Cut(ruleID, ":")
	return jobID, ok && slices.Contains(
		[]string{shortFailure, shortSuccess, shortLate, shortMissed, shortAtRisk, shortRecovered}, kind)
}

// Named makes ids of the names of channels in the rules of jobs. Names that are not known
// are left out.
func Named(r *alert.Rule, ids map[string]string) *alert.Rule {
	named := *r
	named.ChannelIDs = nil
	for _, name := range r.ChannelIDs {
		if id, known := ids[name]; known {
			named.ChannelIDs = append(named.ChannelIDs, id)
		}
	}
	return &named
}
