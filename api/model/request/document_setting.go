package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// alertingPart is the part of a document that holds settings of alerting.
const alertingPart = "alerting"

// settingOf reads one setting of a kind.
func settingOf(kind alert.Kind, b *binder) alert.Headed {
	switch kind {
	case alert.KindChannel:
		return entryOf(b, ofChannel)
	case alert.KindTemplate:
		return entryOf(b, ofTemplate)
	case alert.KindContact:
		return entryOf(b, ofContact)
	case alert.KindTeam:
		return entryOf(b, ofTeam)
	case alert.KindOnCall:
		return entryOf(b, ofOnCall)
	case alert.KindRule:
		return entryOf(b, ofRule)
	case alert.KindRoute:
		return entryOf(b, ofRoute)
	default:
		return entryOf(b, ofSilence)
	}
}

func entryOf[B, T any, P alert.Defined[T]](b *binder, of func(body *B, f *faults) (vo.SettingHead, P)) alert.Headed {
	body, f := bind[B](b), &faults{}
	head, value := of(&body, f)
	*alert.HeadOf(value) = head.Head()
	f.required("name", head.Name)
	b.faults.list = merge(b.faults.list, within(b.path, f.list))
	return value
}

// bindSettings reads the settings of a document. References are names, so that the fields that hold them have the
// names of documents.
func bindSettings(b *binder, d *definition.Document) {
	outer := b
	b.nested(alertingPart, func(b *binder) {
		for _, kind := range definition.SettingKinds() {
			list, places := vo.SettingList(kind), map[string]string{}
			if b.object.fields[list] != nil {
				d.Kinds = append(d.Kinds, kind)
			}
			b.each(list, func(_ int, b *binder) bool {
				b.bodyForm(b.object, b.path)
				v := settingOf(kind, b)
				name := alert.HeadOf(v).Name
				if first, twice := places[name]; twice && name != "" {
					b.faults.list = merge(b.faults.list, []apperror.Field{duplicate(b, first)})
				} else {
					places[name] = b.path
				}
				d.Settings = append(d.Settings, definition.Setting{Kind: kind, Path: b.path, Value: v, Wrong: b.faults.list})
				if len(d.Settings) < bounds.Settings {
					return true
				}
				outer.faults.add(alertingPart, "too_many", "has more than %d settings, the most of a store", bounds.Settings)
				return false
			})
		}
	})
}

// codeBodyField is the code of a field that has the name of bodies, not that of documents.
const codeBodyField = "body_field"

// bodyForm gives the fields of an object that hold names of other objects the names that they have in bodies.
func (b *binder) bodyForm(o *object, path string) {
	for document, body := range vo.NamedFields() {
		if _, given := o.fields[body]; given {
			b.faults.add(join(path, body), codeBodyField, "is %s in a document, and holds names instead of ids", document)
			delete(o.fields, body)
			o.names = slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return name == body })
		}
		if value, given := o.fields[document]; given {
			delete(o.fields, document)
			o.fields[body] = value
			o.names[slices.Index(o.names, document)] = body
		}
	}
	for _, name := range vo.NestedReferences() {
		switch inner := o.fields[name].(type) {
		case *object:
			b.bodyForm(inner, join(path, name))
		case []any:
			for i, item := range inner {
				if one, is := item.(*object); is {
					b.bodyForm(one, fmt.Sprintf("%s[%d]", join(path, name), i))
				}
			}
		}
	}
}

// InDocument names the fields of wrong settings as the document does.
func InDocument(err error) error {
	var invalid *apperror.Error
	if !errors.As(err, &invalid) || invalid.Kind != apperror.KindInvalid {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i, f := range fields {
		if rest, is := strings.CutPrefix(f.Field, alertingPart+"."); is && f.Code != codeBodyField {
			fields[i].Field = alertingPart + "." + documentField(rest)
		}
	}
	return apperror.Invalid(fields)
}

// documentField renames the parts of a path: alerting.routes[0].channelIds[1] is channels[1] there.
func documentField(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		name, index, _ := strings.Cut(part, "[")
		if document := vo.DocumentField(name); i > 0 && document != name { // the first is the list itself
			parts[i] = strings.TrimSuffix(document+"["+index, "[")
		}
	}
	return strings.Join(parts, ".")
}
