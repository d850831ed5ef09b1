package request

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// beyond lists values that break the bounds of the tags of a field.
func beyond(tag reflect.StructTag) (values []any) {
	if most, err := strconv.Atoi(tag.Get("maxLength")); err == nil {
		values = append(values, strings.Repeat("x", most+1))
	}
	if least, err := strconv.Atoi(tag.Get("minimum")); err == nil {
		values = append(values, least-1)
	}
	if most, err := strconv.Atoi(tag.Get("maximum")); err == nil {
		values = append(values, most+1)
	}
	if tag.Get("enums") != "" {
		values = append(values, "NONE_OF_THEM")
	}
	return values
}

// setAt sets what stands at a path of names; a list stands for its first entry.
func setAt(v any, path []string, value any) {
	if list, ok := v.([]any); ok {
		v = list[0]
	}
	if of := v.(map[string]any); len(path) > 1 {
		setAt(of[path[0]], path[1:], value)
	} else {
		of[path[0]] = value
	}
}

// faultsOf is what is wrong with wholeJob, as a job of the kind, with a value at a path.
func faultsOf(t *testing.T, kind, path string, value any) map[string]bool {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(wholeJob), &body))
	setAt(body, []string{"schedule", "kind"}, kind)
	if path != "" {
		setAt(body, strings.Split(path, "."), value)
	}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	o, err := decode(t.Context(), text, maxBodyValues)
	require.NoError(t, err)
	f := &faults{}
	read := bind[JobBody](newBinder(o, f))
	out := map[string]bool{}
	for _, one := range append(f.list, validation.Job(read.job("UTC"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))...) {
		out[strings.ReplaceAll(one.Field, "[0]", "")+" "+one.Message] = true
	}
	return out
}

// A bound that the documents name is one that is held, as it is named there.
func TestEachBoundOfAJobIsHeld(t *testing.T) {
	t.Parallel()
	held := func(path string, value any) bool {
		for _, kind := range []string{"CRON", "FIXED_RATE"} {
			before := faultsOf(t, kind, "", nil)
			for fault := range faultsOf(t, kind, path, value) {
				if !before[fault] && strings.HasPrefix(fault, path+" ") {
					return true
				}
			}
		}
		return false
	}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			inner := f.Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				walk(path, inner)
			case inner == reflect.TypeFor[DataForms](), inner == reflect.TypeFor[time.Time](): // the executor's, and no bounds
			case inner.Kind() == reflect.Struct:
				walk(path+name+".", inner)
			default:
				for _, value := range beyond(f.Tag) {
					require.True(t, held(path+name, value), "%s may be %.20v, which its tags exclude", path+name, value)
				}
			}
		}
	}
	walk("", reflect.TypeFor[JobSettings]())
}
