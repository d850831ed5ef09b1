package request

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Definition is what a body defines, with the version that its edit is of; 0 is none.
type Definition[T any] struct {
	Value   *T
	Version int
}

// readDefinition reads a body into what it defines, and gives it its head. Faults of single fields come with the
// rest of the definition, so that the caller can look for more.
func readDefinition[B, T any, P alert.Defined[T]](r *http.Request, of func(body *B, f *faults) (vo.SettingHead, P),
) (d Definition[T], err error) {
	_, err = readBody(r, func(body *B, f *faults) {
		head, value := of(body, f)
		*alert.HeadOf(value) = head.Head()
		if d.Value, d.Version = value, head.Version; d.Version < 0 {
			f.add("version", "out_of_range", "must be at least 0")
		}
	})
	return d, err
}

// JoinFaults adds the faults that a check has found to those of a body, one entry a field.
// Any other error in the check is more than a fault.
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

// ReadSilence reads the body of POST and PUT /alert-silences.
func ReadSilence(r *http.Request) (Definition[alert.Silence], error) {
	return readDefinition(r, ofSilence)
}

func ofSilence(b *vo.Silence, _ *faults) (vo.SettingHead, *alert.Silence) {
	return b.SettingHead, &b.Silence
}

// ReadRoute reads the body of POST and PUT /alert-routes.
func ReadRoute(r *http.Request) (Definition[alert.Route], error) {
	return readDefinition(r, ofRoute)
}

func ofRoute(b *vo.Route, _ *faults) (vo.SettingHead, *alert.Route) { return b.SettingHead, &b.Route }

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
	vo.SettingHead
	Type string `json:"type"`
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
	return readDefinition(r, ofChannel)
}

func ofChannel(b *ChannelBody, _ *faults) (vo.SettingHead, *alert.Channel) {
	return b.SettingHead, &alert.Channel{
		Type: alert.ChannelType(b.Type), Language: b.Language, Config: alert.ChannelConfig(b.Config),
	}
}

// ReadTemplate reads the body of POST and PUT /alert-templates.
func ReadTemplate(r *http.Request) (Definition[alert.Template], error) {
	return readDefinition(r, ofTemplate)
}

func ofTemplate(b *vo.Template, _ *faults) (vo.SettingHead, *alert.Template) {
	return b.SettingHead, &b.Template
}

// TemplatePreviewBody is the body of POST /alert-templates/preview.
type TemplatePreviewBody struct {
	alert.Template
	// Language and channelType are those of the message to show.
	Language    string `json:"language,omitempty" enums:"en,zh" default:"en"`
	ChannelType string `json:"channelType,omitempty" default:"EMAIL"`
}

// TemplatePreview asks for a message of a template.
type TemplatePreview struct {
	Template *alert.Template
	Language string
	Type     alert.ChannelType
}

// ReadTemplatePreview reads it, for one of some types of channels.
func ReadTemplatePreview(r *http.Request, types []alert.ChannelType) (p TemplatePreview, err error) {
	_, err = readBody(r, func(b *TemplatePreviewBody, f *faults) {
		if !f.has("language") && b.Language != "en" && b.Language != "zh" {
			f.add("language", "unknown_value", "use en or zh")
		}
		if !slices.Contains(types, alert.ChannelType(b.ChannelType)) {
			f.add("channelType", "unknown_value", "use one of %v", types)
		}
		p = TemplatePreview{
			Template: &b.Template, Language: b.Language, Type: alert.ChannelType(b.ChannelType),
		}
	})
	return p, err
}
