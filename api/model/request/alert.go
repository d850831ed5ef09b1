package request

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// SettingHead is what all definitions of alerting have.
type SettingHead struct {
	Name string `json:"name" maxLength:"100"`
	// Group binds it to a group of jobs for good; absent or null is all groups, which only
	// callers who are bound to none may say. In an edit, absent is the one that it has.
	Group   string `json:"group,omitempty" maxLength:"100" extensions:"x-nullable"`
	Enabled bool   `json:"enabled,omitempty" default:"true"`
	// Version is the one that was read, for edits; If-Match may name it instead.
	Version    int       `json:"version,omitempty" minimum:"0"`
	ID         string    `json:"id,omitempty" readonly:"true"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

func (h SettingHead) head() alert.Head {
	return alert.Head{Name: h.Name, Group: h.Group, Enabled: h.Enabled}
}

// Definition is what a body defines, with the version that its edit is of; 0 is none.
type Definition[T any] struct {
	Value   *T
	Version int
}

// readDefinition reads a body into what it defines. Faults of single fields come with the
// rest of the definition, so that the caller can look for more.
func readDefinition[B, T any](r *http.Request, of func(body *B, f *faults) (*T, int)) (d Definition[T], err error) {
	_, err = readBody(r, func(body *B, f *faults) {
		if d.Value, d.Version = of(body, f); d.Version < 0 {
			f.add("version", "out_of_range", "must be at least 0")
		}
	})
	return d, err
}

// JoinFaults adds the faults that a check has found to those of a body, one entry a field.
// What else went wrong in the check is more than a fault.
func JoinFaults(bound, checked error) error {
	var of, more *apperror.Error
	switch {
	case checked == nil || !errors.As(bound, &of):
		return bound
	case errors.As(checked, &more) && more.Kind == apperror.KindInvalid:
		return apperror.Invalid(merge(of.Fields, more.Fields))
	}
	return checked
}

// Within moves the faults of a part of a body to where the part stands.
func Within(field string, err error) error {
	var of *apperror.Error
	if !errors.As(err, &of) || of.Kind != apperror.KindInvalid {
		return err
	}
	moved := slices.Clone(of.Fields)
	for i := range moved {
		moved[i].Field = field + "." + moved[i].Field
	}
	return apperror.Invalid(moved)
}

// CommentBody is the body of POST /alerts/{id}/ack and /resolve.
type CommentBody struct {
	Comment string `json:"comment,omitempty" maxLength:"1000"`
}

// ReadComment reads it; it may be empty.
func ReadComment(r *http.Request) (string, error) {
	body, err := readAnyBody[CommentBody](r, nil)
	return body.Comment, err
}

// SilenceBody is a silence. It needs a name only if somebody is to know it by one.
type SilenceBody struct {
	Name    string            `json:"name,omitempty" maxLength:"100"`
	Group   string            `json:"group,omitempty" maxLength:"100" extensions:"x-nullable"`
	Enabled bool              `json:"enabled,omitempty" default:"true"`
	Version int               `json:"version,omitempty" minimum:"0"`
	Match   map[string]string `json:"match"`
	// From is now where it is absent; To is at most 366 days later.
	From       time.Time `json:"from,omitempty" format:"date-time"`
	To         time.Time `json:"to" format:"date-time"`
	Comment    string    `json:"comment,omitempty" maxLength:"1000"`
	By         string    `json:"by,omitempty" readonly:"true"`
	Active     bool      `json:"active,omitempty" readonly:"true"`
	ID         string    `json:"id,omitempty" readonly:"true"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ReadSilence reads the body of POST and PUT /alert-silences.
func ReadSilence(r *http.Request) (Definition[alert.Silence], error) {
	return readDefinition(r, func(b *SilenceBody, _ *faults) (*alert.Silence, int) {
		return &alert.Silence{
			Head:  alert.Head{Name: b.Name, Group: b.Group, Enabled: b.Enabled},
			Match: b.Match, From: b.From, To: b.To, Comment: b.Comment,
		}, b.Version
	})
}

// RouteBody is a route.
type RouteBody struct {
	SettingHead
	// Position orders routes; those with the same one go by their names.
	Position int `json:"position,omitempty" minimum:"0" maximum:"10000"`
	// Match has the labels that an alert must have; none takes all.
	Match      map[string]string `json:"match,omitempty"`
	ChannelIDs []string          `json:"channelIds,omitempty" maxItems:"100"`
	// Continue lets the next routes be asked, too.
	Continue bool `json:"continue,omitempty"`
	// GroupBy names the labels by which alerts share a message.
	GroupBy          []string `json:"groupBy,omitempty" maxItems:"64"`
	GroupWaitSec     int      `json:"groupWaitSec,omitempty" minimum:"0" maximum:"2592000"`
	GroupIntervalSec int      `json:"groupIntervalSec,omitempty" minimum:"0" maximum:"2592000"`
	// RepeatSec is after how long an alert that still fires is told again; 0 is never.
	RepeatSec int `json:"repeatSec,omitempty" minimum:"0" maximum:"2592000"`
	// EscalateAfterSec is after how long an alert that nobody has acknowledged goes to the
	// channels EscalateTo, too; 0 is never.
	EscalateAfterSec int      `json:"escalateAfterSec,omitempty" minimum:"0" maximum:"2592000"`
	EscalateTo       []string `json:"escalateTo,omitempty" maxItems:"100"`
	OnCallID         string   `json:"onCallId,omitempty"`
	TemplateID       string   `json:"templateId,omitempty"`
}

// ReadRoute reads the body of POST and PUT /alert-routes.
func ReadRoute(r *http.Request) (Definition[alert.Route], error) {
	return readDefinition(r, func(b *RouteBody, _ *faults) (*alert.Route, int) {
		return &alert.Route{
			Head: b.head(), Position: b.Position, Match: b.Match, ChannelIDs: b.ChannelIDs, Continue: b.Continue,
			GroupBy: b.GroupBy, GroupWaitSec: b.GroupWaitSec, GroupIntervalSec: b.GroupIntervalSec, RepeatSec: b.RepeatSec,
			EscalateAfterSec: b.EscalateAfterSec, EscalateTo: b.EscalateTo, OnCallID: b.OnCallID, TemplateID: b.TemplateID,
		}, b.Version
	})
}

// AlertFilter reads what narrows GET /alerts.
func AlertFilter(q *Query) repository.AlertFilter {
	f := repository.AlertFilter{
		Level: OneOf(q, "level", alert.Info, alert.Warning, alert.Critical),
		Type:  OneOf(q, "type", alert.RuleTypes()...), RuleID: q.Text("ruleId"), JobID: q.Text("jobId"),
		NodeID: q.Text("nodeId"), Labels: q.labels("labels"),
	}
	for _, status := range q.words("status") {
		if !slices.Contains(alert.Statuses(), alert.Status(status)) {
			q.faults.add("status", "unknown_value", "must be one or more of %s, with commas between them",
				strings.Trim(fmt.Sprint(alert.Statuses()), "[]"))
			break
		}
		f.Statuses = append(f.Statuses, alert.Status(status))
	}
	f.From, f.To = q.Span()
	return f
}

// words are the parts of a parameter between its commas.
func (q *Query) words(name string) []string {
	s := q.Text(name)
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// maxFilterLabels bounds the labels of a filter.
const maxFilterLabels = 10

// labels reads a parameter of the form name=value,name=value. A backslash takes the meaning
// from the comma or the backslash after it.
func (q *Query) labels(name string) map[string]string {
	out := map[string]string{}
	s := q.Text(name)
	if s == "" {
		return out
	}
	pairs, ok := unescaped(s)
	if !ok {
		q.faults.add(name, "invalid", `write a comma inside of a value as \, and a backslash as \\`)
		return nil
	}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := out[key]; !ok || key == "" || twice {
			q.faults.add(name, "invalid", "must be labels such as team=billing,tier=1, each named once")
			return nil
		}
		out[key] = value
	}
	if len(out) > maxFilterLabels {
		q.faults.add(name, "too_many", "must name at most %d labels", maxFilterLabels)
	}
	return out
}

// unescaped divides a text at its commas; \, is a comma and \\ a backslash inside of a part.
// It is not ok where a backslash stands before anything else.
func unescaped(s string) (parts []string, ok bool) {
	var part strings.Builder
	escaped := false
	for _, r := range s {
		switch {
		case escaped && r != ',' && r != '\\':
			return nil, false
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == ',':
			parts = append(parts, part.String())
			part.Reset()
			continue
		}
		part.WriteRune(r)
		escaped = false
	}
	return append(parts, part.String()), !escaped
}

// ChannelBody is a channel.
type ChannelBody struct {
	SettingHead
	Type string `json:"type" enums:"EMAIL,WEBHOOK,DINGTALK,WECOM,FEISHU,SLACK,TELEGRAM,ALERTMANAGER"`
	// Language is that of its messages; absent is en, or in an edit the one that it has.
	Language string `json:"language,omitempty" enums:"en,zh"`
	// Config has the fields of the type. An edit without it keeps it; one that leaves a secret
	// out keeps that, unless it changes where the secret is sent.
	Config rawObject `json:"config,omitempty" swaggertype:"object"`
	// Secrets are the names of the secrets that the configuration has.
	Secrets []string `json:"secrets,omitempty" readonly:"true"`
}

// ReadChannel reads the body of POST and PUT /alert-channels.
func ReadChannel(r *http.Request) (Definition[alert.Channel], error) {
	return readDefinition(r, func(b *ChannelBody, _ *faults) (*alert.Channel, int) {
		return &alert.Channel{
			Head: b.head(), Type: alert.ChannelType(b.Type), Language: b.Language, Config: alert.ChannelConfig(b.Config),
		}, b.Version
	})
}

// TemplateBody is a template: texts by language, en and zh.
type TemplateBody struct {
	SettingHead
	Title    map[string]string `json:"title,omitempty"`
	Text     map[string]string `json:"text,omitempty"`
	HTML     map[string]string `json:"html,omitempty"`
	Markdown map[string]string `json:"markdown,omitempty"`
}

func (b *TemplateBody) template() *alert.Template {
	return &alert.Template{Head: b.head(), Title: b.Title, Text: b.Text, HTML: b.HTML, Markdown: b.Markdown}
}

// ReadTemplate reads the body of POST and PUT /alert-templates.
func ReadTemplate(r *http.Request) (Definition[alert.Template], error) {
	return readDefinition(r, func(b *TemplateBody, _ *faults) (*alert.Template, int) { return b.template(), b.Version })
}

// TemplatePreviewBody is the body of POST /alert-templates/preview.
type TemplatePreviewBody struct {
	Title    map[string]string `json:"title,omitempty"`
	Text     map[string]string `json:"text,omitempty"`
	HTML     map[string]string `json:"html,omitempty"`
	Markdown map[string]string `json:"markdown,omitempty"`
	// Language and channelType are those of the message to show.
	Language    string `json:"language,omitempty" enums:"en,zh" default:"en"`
	ChannelType string `json:"channelType,omitempty" enums:"EMAIL,WEBHOOK,DINGTALK,WECOM,FEISHU,SLACK,TELEGRAM,ALERTMANAGER" default:"EMAIL"`
}

// TemplatePreview asks for a message of a template.
type TemplatePreview struct {
	Template *alert.Template
	Language string
	Type     alert.ChannelType
}

// ReadTemplatePreview reads it.
func ReadTemplatePreview(r *http.Request) (p TemplatePreview, err error) {
	_, err = readBody(r, func(b *TemplatePreviewBody, f *faults) {
		if b.Language != "en" && b.Language != "zh" {
			f.add("language", "unknown_value", "use en or zh")
		}
		if !slices.Contains(alert.ChannelTypes(), alert.ChannelType(b.ChannelType)) {
			f.add("channelType", "unknown_value", "use one of %v", alert.ChannelTypes())
		}
		p = TemplatePreview{
			Template: &alert.Template{Title: b.Title, Text: b.Text, HTML: b.HTML, Markdown: b.Markdown},
			Language: b.Language, Type: alert.ChannelType(b.ChannelType),
		}
	})
	return p, err
}
