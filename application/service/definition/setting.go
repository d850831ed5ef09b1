package definition

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// SettingKinds are the kinds of a document in the order in which they are made: a kind names only those before it.
func SettingKinds() []alert.Kind {
	return []alert.Kind{
		alert.KindChannel, alert.KindTemplate, alert.KindContact, alert.KindTeam, alert.KindOnCall, alert.KindRule,
		alert.KindRoute, alert.KindSilence,
	}
}

// Setting is a setting of alerting in a document. Where it names another object there is the name, not the id: of a
// user the name, of a job its group, a slash and its name.
type Setting struct {
	Kind alert.Kind
	// Path is its place in the document, such as alerting.rules[3].
	Path  string
	Value alert.Headed
	// Wrong are its wrong fields.
	Wrong []apperror.Field
}

// SettingChange is what becomes of one setting.
type SettingChange struct {
	Action ChangeAction
	Kind   alert.Kind
	// Before and After hold ids; one of them is nil where there is none.
	Before, After alert.Headed
	// Warnings say what is missing, so that the setting does less than it says.
	Warnings []apperror.Field
	// Err says why it did not happen.
	Err error
	// Path is the place in the document.
	Path string
	// Shown are Before and After of an update with names in the place of ids.
	Shown [2]alert.Headed
}

// Setting is the setting as it is after the change; of a deletion, as it was.
func (c SettingChange) Setting() alert.Headed {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// needsJobs reports whether a setting names jobs: it is applied after them.
func (c SettingChange) needsJobs() bool {
	return c.After != nil && slices.ContainsFunc(c.After.References(), func(r alert.Reference) bool {
		return r.To == alert.NamedJob
	})
}

// planSettings plans the settings of a document. wrong is all that keeps the document from being
// applied.
func (s *DefinitionService) planSettings(ctx context.Context, d Document, b *book) (
	out []SettingChange, wrong []apperror.Field, err error,
) {
	services := s.settings.Over(b, b)
	for _, kind := range SettingKinds() {
		for _, given := range d.Settings {
			if given.Kind != kind {
				continue
			}
			change, faults, err := b.plan(ctx, services.Of(kind), given)
			if err != nil {
				return nil, nil, err
			}
			if len(given.Wrong) > 0 {
				faults = append(slices.Clone(given.Wrong), notNamed(faults, given.Wrong)...)
			}
			wrong, out = append(wrong, faults...), append(out, change)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong, nil
	}
	if err := s.show(ctx, b, out); err != nil {
		return nil, nil, err
	}
	return append(out, b.rest...), nil, nil
}

// notNamed are the faults of fields that others do not name.
func notNamed(faults, others []apperror.Field) []apperror.Field {
	return slices.DeleteFunc(faults, func(f apperror.Field) bool {
		return slices.ContainsFunc(others, func(o apperror.Field) bool { return o.Field == f.Field })
	})
}

// checker judges settings of one kind.
type checker interface {
	Check(ctx context.Context, former, next alert.Headed) error
	Document(v alert.Headed) (string, error)
}

// plan says what becomes of one setting of the document.
func (b *book) plan(ctx context.Context, of checker, given Setting) (SettingChange, []apperror.Field, error) {
	c := SettingChange{Action: ActionCreate, Kind: given.Kind, After: given.Value, Path: given.Path}
	next := alert.HeadOf(given.Value)
	if b.ended(&c) {
		return c, nil, nil
	}
	former, known := b.byName[place{given.Kind, next.Name}]
	if known && former.Group != next.Group {
		return c, []apperror.Field{{
			Field: given.Path + ".name", Code: "name_taken",
			Message: fmt.Sprintf("another %s has this name, for other groups: use another name", given.Kind.Noun()),
		}}, nil
	}
	if known {
		before := readable(former)
		if before == nil {
			return c, []apperror.Field{{
				Field: given.Path + ".name", Code: "unreadable",
				Message: "the stored one cannot be read: mend its row in the store, or use another name",
			}}, nil
		}
		c.Action, c.Before = ActionUpdate, before
		next.ID, next.Version = former.ID, former.Version
	} else {
		next.ID = b.known[place{given.Kind, next.Name}].id
	}
	wrong := b.resolve(given, c.Before)
	if channel, is := given.Value.(*alert.Channel); is {
		channel.Partial = &alert.PartialChannel{}
	}
	err := of.Check(ctx, c.Before, given.Value)
	if err != nil && !apperror.Is(err, apperror.KindInvalid) {
		return c, nil, err
	}
	for _, f := range apperror.InvalidFields(err) {
		f.Field = given.Path + "." + f.Field
		wrong = append(wrong, notNamed([]apperror.Field{f}, wrong)...)
	}
	if len(wrong) > 0 || len(given.Wrong) > 0 {
		return c, wrong, nil
	}
	if c.Before != nil {
		same, err := sameSetting(of, c.Before, c.After)
		if err != nil {
			return c, nil, err
		}
		if same {
			c.Action = ActionUnchanged
		}
	}
	c.Warnings = warningsOf(given.Value)
	return c, nil, nil
}

// readable is a stored setting, or nil where it cannot be read.
func readable(s alert.Setting) alert.Headed {
	if v, err := alert.ReadAny(s); err == nil {
		return v
	}
	return nil
}

// ended reports whether the setting is a silence that is over: it is left as it is, because a document may be older.
func (b *book) ended(c *SettingChange) bool {
	silence, is := c.After.(*alert.Silence)
	if !is || silence.To.IsZero() || silence.To.After(b.now) {
		return false
	}
	c.Action = ActionUnchanged
	c.Warnings = []apperror.Field{{Field: "to", Code: "ended", Message: "is over; the silence is left out"}}
	return true
}

// warningsOf say what keeps a setting from doing what it says.
func warningsOf(v alert.Headed) (out []apperror.Field) {
	switch v := v.(type) {
	case *alert.Channel:
		for _, name := range v.Partial.Missing {
			out = append(out, apperror.Field{
				Field: "config." + name, Code: "missing_secret",
				Message: "is missing, so that the channel is disabled: give it, and enable the channel",
			})
		}
	case *alert.Silence:
		out = v.Warnings
	}
	return out
}

// sameSetting compares what people write of two settings.
func sameSetting(of checker, before, after alert.Headed) (bool, error) {
	if channel, is := after.(*alert.Channel); is && channel.Partial.Changed {
		return false, nil
	}
	a, b := alert.HeadOf(before), alert.HeadOf(after)
	if a.Enabled != b.Enabled {
		return false, nil
	}
	old, err := of.Document(before)
	if err != nil {
		return false, err
	}
	now, err := of.Document(after)
	if err != nil {
		return false, err
	}
	x, err := plainDocument(old)
	if err != nil {
		return false, err
	}
	y, err := plainDocument(now)
	return err == nil && reflect.DeepEqual(x, y), err
}

// plainDocument is a stored document without what nobody writes, and without empty lists and objects: null is one.
func plainDocument(text string) (any, error) {
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("compare settings: %w", err)
	}
	delete(v, "editorId")
	delete(v, "by")
	return withoutEmpty(v), nil
}

func withoutEmpty(v any) any {
	m, is := v.(map[string]any)
	if !is {
		if list, is := v.([]any); is && len(list) == 0 {
			return nil
		}
		return v
	}
	for name, value := range m {
		if m[name] = withoutEmpty(value); m[name] == nil {
			delete(m, name)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
