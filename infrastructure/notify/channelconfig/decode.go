// Package channelconfig reads the configurations of channels. It finds all mistakes at once, and
// knows which fields are secret.
package channelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Path is the field of a channel that holds its configuration.
const Path = "config"

// codeUnknownField is that of fields of bodies, too.
const codeUnknownField = "unknown_field"

// maxBytes bounds a configuration.
const maxBytes = bounds.ChannelConfig

// field is one field of a configuration.
type field struct {
	name   string
	value  reflect.Value
	secret bool
}

// fieldsOf lists the fields of a struct that config points to. Fields of type Secret, and lists and
// maps of it, are secret.
func fieldsOf(config any) []field {
	v := reflect.ValueOf(config).Elem()
	var out []field
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		t := v.Field(i).Type()
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		out = append(out, field{name: name, value: v.Field(i), secret: t == reflect.TypeFor[Secret]()})
	}
	return out
}

// SecretNames lists the secret fields of a configuration, a pointer to a struct.
func SecretNames(config any) []string {
	var out []string
	for _, f := range fieldsOf(config) {
		if f.secret {
			out = append(out, f.name)
		}
	}
	return out
}

// Decode reads a configuration into config, a pointer to a struct with defaults whose fields all
// have tags of JSON. It returns what is wrong: unknown fields and wrong types. A null leaves the
// default. No message repeats a value.
func Decode(text alert.ChannelConfig, config any) []apperror.Field {
	members, wrong := object(text)
	if wrong != nil {
		return wrong
	}
	fields := fieldsOf(config)
	p := &Problems{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			p.Add(validation.Text(name, 64), codeUnknownField, "remove it; the fields of this type are %s", names(fields))
			continue
		}
		if string(members[name]) == "null" {
			continue
		}
		if err := json.Unmarshal(members[name], fields[i].value.Addr().Interface()); err != nil {
			p.Add(name, validation.CodeInvalid, "must be %s", kindText(fields[i].value.Type()))
		}
	}
	return p.Fields()
}

func object(text alert.ChannelConfig) (map[string]json.RawMessage, []apperror.Field) {
	if len(text) > maxBytes {
		return nil, []apperror.Field{{
			Field: Path, Code: validation.CodeTooLong, Message: fmt.Sprintf("is longer than %d bytes", maxBytes),
		}}
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal([]byte(string(text)), &members)
	if err == nil && members == nil {
		err = errors.New("null")
	}
	if err != nil {
		return nil, []apperror.Field{{Field: Path, Code: validation.CodeInvalid, Message: "must be a JSON object"}}
	}
	return members, nil
}

func names(fields []field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return strings.Join(out, ", ")
}

func kindText(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "a list of strings"
	case reflect.Map:
		return "an object whose values are strings"
	default:
		return "a string"
	}
}

// Public returns the configuration without its secrets, and the names of the secrets that it has.
func Public(text alert.ChannelConfig, config any) (open map[string]any, given []string, err error) {
	members, wrong := object(text)
	if wrong != nil {
		return nil, nil, apperror.Invalid(wrong)
	}
	open = map[string]any{}
	for _, f := range fieldsOf(config) {
		raw, ok := members[f.name]
		switch {
		case !ok || string(raw) == "null":
		case f.secret:
			if s := string(raw); s != `""` && s != "[]" && s != "{}" {
				given = append(given, f.name)
			}
		default:
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return nil, nil, fmt.Errorf("field %s of the configuration: %w", f.name, err)
			}
			open[f.name] = hideQuery(value)
		}
	}
	return open, given, nil
}

// Merge returns the edited configuration with those secrets of the old one that the edit does not
// mention. An empty value removes a secret. When one of the fields named by target changes, the
// secrets must be given again: else who may edit, but does not know them, could have them sent
// elsewhere.
func Merge(old, edited alert.ChannelConfig, config any, target []string) (alert.ChannelConfig, []apperror.Field) {
	before, wrong := object(old)
	if wrong != nil {
		return "", wrong
	}
	after, wrong := object(edited)
	if wrong != nil {
		return "", wrong
	}
	keepHidden(before, after)
	moved := slices.ContainsFunc(target, func(name string) bool {
		b, okBefore := before[name]
		a, okAfter := after[name]
		return okAfter != okBefore || string(a) != string(b)
	})
	p := &Problems{}
	for _, f := range fieldsOf(config) {
		kept, had := before[f.name]
		given, ok := after[f.name]
		switch {
		case !f.secret || !had || ok && string(given) != "null":
		case moved:
			p.Add(f.name, validation.CodeRequired, "enter it again, because %s changed", strings.Join(target, " or "))
		default:
			after[f.name] = kept
		}
	}
	text, err := json.Marshal(after)
	if err != nil {
		p.Add("", validation.CodeInvalid, "must be a JSON object")
	}
	return alert.ChannelConfig(text), p.Fields()
}
