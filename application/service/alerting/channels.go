package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// How many of each kind there may be.
const (
	maxChannels  = 500
	maxTemplates = 500
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
	// Merge returns an edited configuration with the secrets that it leaves out, and checks it.
	Merge(t alert.ChannelType, old, edited alert.ChannelConfig) (alert.ChannelConfig, error)
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
		of: alert.KindChannel, most: maxChannels,
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
func (d Deps) checkChannel(ctx context.Context, configs ChannelConfigs, seals Seals, former, next *alert.Channel,
) (wrong []apperror.Field, err error) {
	if !slices.Contains(languages(), next.Language) {
		wrong = append(wrong, apperror.Field{
			Field: "language", Code: validation.CodeUnknown, Message: "use one of " + strings.Join(languages(), ", "),
		})
	}
	if !slices.Contains(alert.ChannelTypes(), next.Type) {
		return append(wrong, apperror.Field{
			Field: "type", Code: validation.CodeUnknown, Message: fmt.Sprintf("use one of %v", alert.ChannelTypes()),
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
			if next.Config == "" {
				return nil, fmt.Errorf("open the configuration of the channel %s: %w", former.Name, err)
			}
			old = noConfig // a new one takes its place
		}
	}
	switch {
	case next.Config == "" && former == nil:
		return append(wrong, apperror.Field{
			Field: "config", Code: "required", Message: "say where the messages go; docs/alert-channels.md has the fields",
		}), nil
	case next.Config == "":
		next.Config = old
	}
	merged, err := configs.Merge(next.Type, old, next.Config)
	if err != nil {
		return append(wrong, fieldsOf(err)...), notInvalid(err)
	}
	next.Config = merged
	next.Public, next.Secrets, err = configs.Public(next.Type, merged)
	return wrong, err
}

// fieldsOf are the wrong fields of an error, and notInvalid is an error that has none.
func asInvalid(err error) (f *apperror.Error, ok bool) {
	ok = errors.As(err, &f) && f.Kind == apperror.KindInvalid
	return f, ok
}

func fieldsOf(err error) []apperror.Field {
	if f, ok := asInvalid(err); ok {
		return f.Fields
	}
	return nil
}

func notInvalid(err error) error {
	if _, ok := asInvalid(err); ok {
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
		of: alert.KindTemplate, most: maxTemplates,
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
