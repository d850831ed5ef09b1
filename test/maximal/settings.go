package maximal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Told makes the schedule, the worker group, the deadline and the parameters of a job maximal, in the n-th script: what
// its other texts leave of the column that they share with the lists of those who are told.
func Told(j *entity.Job, n int) {
	const day, zone = "0 0 6 ? * MON-FRI", "America/Argentina/ComodRivadavia" // the longest name of a zone
	j.Schedule = schedule.Spec{Kind: schedule.Cron, TimeZone: zone, CronExpression: spaced(day, bounds.CronExpression)}
	j.Deadline = entity.JobDeadline{At: "23:59:59", TimeZone: zone, OnMiss: entity.MissCancel}
	j.Alerts.LateAfterSec = 600
	j.Routing.Workers = strings.Repeat("w", bounds.WorkerGroup)
	if n%len(Scripts()) == 0 { // letters that JSON writes with six bytes
		j.Alerts.OnFailure, j.Alerts.OnSuccess, j.Alerts.OnEnd = channels("<"), channels("<"), channels("<")
		j.Alerts.OnLate, j.Alerts.OnRecovered = channels("<"), channels("<")
	}
	j.Next = []entity.Next{{
		Job: "01a21fe9-938d-796d-b6f7-1b5848b4d259", On: entity.NextOnEnd,
		Name:   strings.Repeat("g", bounds.Group) + "/" + fill(n, bounds.Name),
		Params: json.RawMessage(`{"p":"` + fill(n, 1000) + `"}`),
	}}
	next, _ := json.Marshal(j.Next)
	j.Parameters = []entity.JobParameter{
		{
			Name: strings.Repeat("p", 64), Type: entity.ParameterEnum, Description: fill(n, 500), Required: true,
			Values: []string{fill(n, bounds.Name)}, Default: json.RawMessage(`"` + fill(n, bounds.Name) + `"`),
		},
	}
	for i := 0; ; i++ {
		p := entity.JobParameter{
			Name: fmt.Sprintf("p%d", i), Type: entity.ParameterString, Default: json.RawMessage(`"` + fill(n, 300) + `"`),
		}
		text, _ := json.Marshal(append(j.Parameters, p)) // texts always marshal
		told, _ := json.Marshal(j.Alerts)
		if len(text) > bounds.ParametersBytes || len(text)+len(told)+len(next) > bounds.AlertsBytes-300 {
			return
		}
		j.Parameters = append(j.Parameters, p)
	}
}

// spaced is an expression that blanks make as long as it may be.
func spaced(expression string, most int) string {
	return strings.Replace(expression, " ", strings.Repeat(" ", most-len(expression)+1), 1)
}

// fill is a text of so many letters of the n-th script.
func fill(n, letters int) string { return strings.Repeat(Scripts()[n%len(Scripts())], letters) }

// ids are the most different ids; each is as long as it may be.
func ids(n, most, letters int) []string {
	out := make([]string, most)
	for i := range out {
		end := fmt.Sprintf("-%03d", i)
		out[i] = fill(n, letters-len(end)) + end
	}
	return out
}

// Head is what all settings have, in the n-th script.
func Head(n int) alert.Head {
	end := fmt.Sprintf("-%d", n)
	return alert.Head{Name: fill(n, bounds.Name-len(end)) + end, Enabled: true}
}

// Rule is a rule whose texts are maximal, in the n-th script.
func Rule(n int) *alert.Rule {
	const condition = `status == "FAILED" && message contains "`
	letter := Scripts()[n%len(Scripts())]
	groups := make([]string, bounds.List)
	for i := range groups {
		end := fmt.Sprintf("-%03d", i)
		groups[i] = fill(n, bounds.Group-len(end)) + end
	}
	actions := make([]alert.RuleAction, bounds.Actions)
	for i := range actions {
		actions[i] = alert.RuleAction{
			Kind: alert.ActionRunJob, JobID: fill(n, bounds.ID),
			Params: json.RawMessage(`{"a":"` + strings.Repeat("x", bounds.ActionParams-len(`{"a":""}`)) + `"}`),
		}
	}
	return &alert.Rule{
		Head: Head(n), Type: alert.Expression, Level: alert.Critical, Notify: alert.NotifyEach,
		Scope: alert.Scope{
			JobIDs: ids(n, bounds.ScopeJobs, bounds.ID), Groups: groups, Labels: Labels(bounds.FormerLabelBytes),
		},
		Expression: condition + strings.Repeat(letter, (bounds.Expression-len(condition)-1)/len(letter)) + `"`,
		ChannelIDs: ids(n, bounds.List, bounds.ID), Actions: actions, EditorID: strings.Repeat("e", bounds.ID),
		Labels: Labels(bounds.FormerLabelBytes), Default: fill(n, bounds.Name),
	}
}

// Channel is a channel with a public part as long as a configuration may be.
func Channel(n int) *alert.Channel {
	return &alert.Channel{
		Head: Head(n), Type: alert.ChannelWebhook, Language: "zh", Secrets: ids(n, bounds.Channels, bounds.Name),
		Public: map[string]any{"url": strings.Repeat("&", bounds.ChannelConfig-len(`{"url":""}`))},
	}
}

// Silence holds back alerts from a moment on.
func Silence(n int, from time.Time) *alert.Silence {
	return &alert.Silence{
		Head: Head(n), Match: Labels(bounds.FormerLabelBytes), From: from, To: from.Add(time.Hour),
		Comment: fill(n, bounds.Comment), By: fill(n, bounds.Name),
	}
}

// Route is a route whose texts are maximal.
func Route(n int) *alert.Route {
	return &alert.Route{
		Head: Head(n), Match: Labels(bounds.FormerLabelBytes), ChannelIDs: ids(n, bounds.List, bounds.ID),
		GroupBy: ids(n, bounds.Labels, bounds.LabelKey), EscalateAfterSec: 60, EscalateTo: ids(n, bounds.List, bounds.ID),
		OnCallID: fill(n, bounds.ID), TemplateID: fill(n, bounds.ID),
	}
}

// Template is a template whose texts are as long as they may be, in both languages.
func Template(n int) *alert.Template {
	letter := Scripts()[n%len(Scripts())]
	text := strings.Repeat(letter, bounds.TemplateSource/len(letter))
	all := map[string]string{"en": text, "zh": text}
	return &alert.Template{Head: Head(n), Title: all, Text: all, HTML: all, Markdown: all}
}

// Team has the most members and channels.
func Team(n int) *alert.Team {
	return &alert.Team{
		Head: Head(n), Members: ids(n, bounds.Members, bounds.ID), ChannelIDs: ids(n, bounds.List, bounds.ID),
	}
}

// Contact has the longest addresses.
func Contact(n int) *alert.Contact {
	const domain = "@example.com"
	return &alert.Contact{
		Head: Head(n), UserID: fill(n, bounds.ID), ChatID: fill(n, bounds.ChatID),
		Email: strings.Repeat("&", bounds.Email-len(domain)) + domain, Phone: "+" + strings.Repeat("1", bounds.Phone-1),
	}
}

// OnCall has the most shifts.
func OnCall(n int) *alert.OnCall {
	out := &alert.OnCall{Head: Head(n), TimeZone: strings.Repeat("./", 30) + "UTC"}
	for i := range bounds.Shifts {
		out.Shifts = append(out.Shifts, alert.Shift{
			TeamID: fill(n, bounds.ID), Days: []time.Weekday{time.Weekday(i % 7)}, ToMin: 24 * 60, RotateDays: 366,
			RotateFrom: "2026-01-05",
		})
	}
	return out
}
