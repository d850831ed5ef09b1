package request

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// places are the objects of a body that have a field, by its name. The body itself is "", the
// objects of an array parameters are "parameters[]".
type places map[string][]string

// bodies are the places of each kind of body that was read so far; they never change.
var bodies sync.Map //nolint:gochecknoglobals // what is read of types of this package, once

// placesOf are those of a struct that documents a body.
func placesOf(t reflect.Type) places {
	if found, ok := bodies.Load(t); ok {
		return found.(places)
	}
	p := places{}
	p.walk("", t)
	if _, stepped := t.FieldByName("Steps"); stepped {
		// A workflow has no data of its own: its steps have.
		for name, paths := range p {
			p[name] = slices.DeleteFunc(paths, func(path string) bool { return path == "jobData" })
		}
	}
	bodies.Store(t, p)
	return p
}

func (p places) walk(path string, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner, below := field.Type, join(path, name)
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Slice {
			inner, below = inner.Elem(), below+"[]"
		}
		switch {
		case field.Anonymous:
			p.walk(path, inner)
			continue
		case name == "" || name == "-" || field.Tag.Get("readonly") == "true":
			continue
		case inner == reflect.TypeFor[DataForms]():
			p.walk(below, reflect.TypeFor[HTTPData]())
			p.walk(below, reflect.TypeFor[CommandData]())
		case inner.Implements(reflect.TypeFor[documented]()):
			p.walk(below, reflect.Zero(inner).Interface().(documented).documents())
		case inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]():
			p.walk(below, inner)
		}
		if !slices.Contains(p[name], path) {
			p[name] = append(p[name], path)
		}
	}
}

// documented is a field that is kept as it was written, and whose fields are those of another struct.
type documented interface{ documents() reflect.Type }

// remedy says where a field belongs that is not known in an object of the body at base; "" where
// no object of the body has it.
func (p places) remedy(base, object, name string) string {
	within := withoutPlaces(strings.TrimPrefix(strings.TrimPrefix(object, base), "."))
	var found []string
	for _, path := range p[name] {
		switch {
		case path == within:
		case path == "" && base == "":
			found = append(found, "at the top level")
		case path == "":
			found = append(found, "under "+base)
		default:
			found = append(found, "under "+join(base, path))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "it belongs " + strings.Join(found, " or ")
}

// withoutPlaces is a path without the numbers of entries: parameters[] for parameters[3].
func withoutPlaces(path string) string {
	var out strings.Builder
	for path != "" {
		before, after, found := strings.Cut(path, "[")
		out.WriteString(before)
		if !found {
			break
		}
		out.WriteString("[]")
		_, path, _ = strings.Cut(after, "]")
	}
	return out.String()
}
