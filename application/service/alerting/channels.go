package alerting

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The services of channels and of the templates of their messages.
type (
	// ChannelService manages channels.
	ChannelService = Settings[alert.Channel, *alert.Channel]
	// TemplateService manages templates.
	TemplateService = Settings[alert.Template, *alert.Template]
)

// ChannelConfigs reads configurations of channels.
type ChannelConfigs interface {
	// Types lists the types of channels, in the order in which they are shown.
	Types() []alert.ChannelType
	// Merge returns an edited configuration with the secrets that it leaves out, and checks it.
	Merge(t alert.ChannelType, old, edited alert.ChannelConfig) (alert.ChannelConfig, error)
	// Partial is Merge that names the secrets, and the hidden parts of addresses, that are missing. *** stands for a
	// secret that is left out.
	Partial(t alert.ChannelType, old, edited alert.ChannelConfig) (merged alert.ChannelConfig, missing []string, err error)
	// Public is what clients may read of one, with the names of the secrets that it has.
	Public(t alert.ChannelType, config alert.ChannelConfig) (open map[string]any, given []string, err error)
}

// Seals keeps configurations sealed.
type Seals interface {
	Config(v alert.Setting) (alert.ChannelConfig, error)
	Seal(v *alert.Setting, config alert.ChannelConfig, secret bool) error
}

// noConfig is a configuration without fields.
const noConfig = "{}"

// languages are those of messages.
func languages() []string { return []string{"en", "zh"} }

// NewChannelService manages channels. A new one needs a configuration; an edit without one
// keeps it.
func NewChannelService(d Deps, configs ChannelConfigs, seals Seals) *ChannelService {
	return &ChannelService{d, kind[*alert.Channel]{
		of: alert.KindChannel, most: bounds.MostChannels, reaches: channelReaches,
		keep: func(former, next *alert.Channel, _ time.Time) {
			if former != nil {
				next.Language = cmp.Or(next.Language, former.Language)
			}
			next.Language = cmp.Or(next.Language, languages()[0])
		},
		check: func(ctx context.Context, former, next *alert.Channel, _ time.Time) ([]apperror.Field, error) {
			return d.checkChannel(ctx, configs, seals, former, next)
		},
		seal: func(v *alert.Channel, into *alert.Setting) error {
			return seals.Seal(into, v.Config, len(v.Secrets) > 0)
		},
	}}
}

// checkChannel lists what is wrong with a channel, and completes its configuration.
func (d Deps) checkChannel(ctx context.Context, configs ChannelConfigs, seals Seals,
	former, next *alert.Channel,
) (wrong []apperror.Field, err error) {
	if !slices.Contains(languages(), next.Language) {
		wrong = append(wrong, apperror.Field{
			Field: "language", Code: validation.CodeUnknown, Message: "use one of " + strings.Join(languages(), ", "),
		})
	}
	if !slices.Contains(configs.Types(), next.Type) {
		return append(wrong, apperror.Field{
			Field: "type", Code: validation.CodeUnknown, Message: fmt.Sprintf("use one of %v", configs.Types()),
		}), nil
	}
	old := alert.ChannelConfig(noConfig)
	if former != nil {
		if former.Type != next.Type {
			return append(wrong, apperror.Field{
				Field: "type", Code: "unchangeable",
				Message: fmt.Sprintf("is %s for good, as its configuration is of that type: make another channel", former.Type),
			}), nil
		}
		stored, err := d.Settings.AlertSetting(ctx, alert.KindChannel, former.ID)
		if err != nil {
			return nil, err
		}
		if old, err = seals.Config(stored); err != nil {
			if next.Partial != nil {
				next.Partial.Unreadable = true
			} else if next.Config == "" {
				return nil, fmt.Errorf("open the configuration of the channel %s: %w", former.Name, err)
			}
			old = noConfig // a new one takes its place
		}
	}
	switch {
	case next.Config == "" && former == nil && next.Partial == nil:
		return append(wrong, apperror.Field{
			Field: "config", Code: "required", Message: "say where the messages go; docs/alert-channels.md has the fields",
		}), nil
	case next.Config == "":
		next.Config = old
	}
	var merged alert.ChannelConfig
	if next.Partial == nil {
		merged, err = configs.Merge(next.Type, old, next.Config)
	} else {
		merged, err = checkPartial(configs, former, next, old)
	}
	if err != nil {
		return append(wrong, apperror.InvalidFields(err)...), notInvalid(err)
	}
	next.Config = merged
	next.Public, next.Secrets, err = configs.Public(next.Type, merged)
	return wrong, err
}

// checkPartial completes the configuration of a channel of a document. A new channel may lack secrets, and is disabled
// then. One that has all of them keeps working: a document that would take one away is refused.
func checkPartial(configs ChannelConfigs, former, next *alert.Channel, old alert.ChannelConfig) (
	merged alert.ChannelConfig, err error,
) {
	p := next.Partial
	if merged, p.Missing, err = configs.Partial(next.Type, old, next.Config); err != nil {
		return "", err
	}
	p.Changed = p.Unreadable || !sameConfig(old, merged)
	switch {
	case len(p.Missing) == 0:
		return merged, nil
	case former != nil && !p.Changed: // it takes nothing away, and switches nothing on that lacks something
		next.Enabled = next.Enabled && former.Enabled
		return merged, nil
	}
	next.Enabled = false
	if former == nil {
		return merged, nil
	}
	_, lacked, err := configs.Partial(next.Type, old, old)
	switch {
	case p.Unreadable:
		return "", apperror.InvalidField("config", "unreadable_secret",
			"the stored secrets cannot be opened on this node: give all of them, or mend secrets.key")
	case err == nil && len(lacked) > 0: // it was made without them
		return merged, nil
	}
	var wrong []apperror.Field
	for _, name := range p.Missing {
		wrong = append(wrong, apperror.Field{
			Field: "config." + name, Code: "required", Message: "is hidden here and another one than the stored: write it whole",
		})
	}
	return "", apperror.Invalid(wrong)
}

// sameConfig compares what two configurations say, in whatever order.
func sameConfig(a, b alert.ChannelConfig) bool {
	var x, y any
	return json.Unmarshal([]byte(string(a)), &x) == nil && json.Unmarshal([]byte(string(b)), &y) == nil &&
		reflect.DeepEqual(x, y)
}

// notInvalid is an error that reports no wrong fields.
func notInvalid(err error) error {
	if apperror.Is(err, apperror.KindInvalid) {
		return nil
	}
	return err
}

// TemplateChecker tries templates.
type TemplateChecker interface {
	// Check lists what is wrong with a template, in the fields title, text, html and markdown.
	Check(ctx context.Context, template alert.Content) []apperror.Field
}

// NewTemplateService manages templates.
func NewTemplateService(d Deps, checker TemplateChecker) *TemplateService {
	return &TemplateService{d, kind[*alert.Template]{
		of: alert.KindTemplate, most: bounds.MostTemplates,
		check: func(ctx context.Context, _, next *alert.Template, _ time.Time) ([]apperror.Field, error) {
			return CheckTemplate(ctx, checker, next), nil
		},
	}}
}

// CheckTemplate lists what is wrong with a template, by form and language.
func CheckTemplate(ctx context.Context, checker TemplateChecker, t *alert.Template) (wrong []apperror.Field) {
	empty := true
	for _, form := range []struct {
		name  string
		texts map[string]string
	}{{"title", t.Title}, {"text", t.Text}, {"html", t.HTML}, {"markdown", t.Markdown}} {
		for language := range form.texts {
			empty = false
			if !slices.Contains(languages(), language) {
				wrong = append(wrong, apperror.Field{
					Field: form.name, Code: validation.CodeUnknown,
					Message: "has texts by language: en, zh; not " + fmt.Sprintf("%.20q", language),
				})
			}
		}
	}
	for _, language := range languages() {
		for _, f := range checker.Check(ctx, t.Content(language)) {
			f.Field += "." + language
			wrong = append(wrong, f)
		}
	}
	if empty {
		wrong = append(wrong, apperror.Field{
			Field: "text", Code: "required", Message: "a template has a title, a text, an html or a markdown in en or zh",
		})
	}
	return wrong
}
