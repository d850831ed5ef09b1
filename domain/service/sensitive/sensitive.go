// Package sensitive finds secrets in clear text in definitions and parameters, by the
// names of fields. More people read definitions than may use what stands in them.
package sensitive

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Hidden stands where a value is that the reader may not see.
const Hidden = "***"

// secretWords are parts of names whose values are secret, in small letters and
// without what separates words.
func secretWords() [10]string {
	return [...]string{
		"password", "passwd", "secret", "token", "apikey", "accesskey", "privatekey", "authorization",
		"credential", "cookie",
	}
}

// aboutWords end names of what is said about a secret, such as TOKEN_FILE.
func aboutWords() [13]string {
	return [...]string{
		"file", "path", "dir", "url", "uri", "name", "type", "ttl", "timeout", "limit", "count", "length",
		"header",
	}
}

// Name reports whether the name of a parameter or a header says that its value
// is a secret.
func Name(name string) bool {
	return holds(plain(name))
}

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

func holds(plain string) bool {
	words := secretWords()
	return slices.ContainsFunc(words[:], func(word string) bool { return strings.Contains(plain, word) })
}

// walk goes through decoded JSON. It belongs to one goroutine.
type walk struct {
	// steps are where it stands; a text is made of them for a find alone.
	steps []string
	// found is called for each secret in clear text, which holder has under name.
	found func(holder map[string]any, name string)
}

// values looks at a value and all inside it, in the order of the names.
func (w *walk) values(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			secret := w.literal(name, v[name])
			w.steps = append(w.steps, name)
			if secret {
				w.found(v, name)
			} else {
				w.values(v[name])
			}
			w.steps = w.steps[:len(w.steps)-1]
		}
	case []any:
		w.steps = append(w.steps, items)
		for _, item := range v {
			w.values(item)
		}
		w.steps = w.steps[:len(w.steps)-1]
	}
}

// items stands for the items of an array in a path.
const items = "[]"

// path names where the walk stands.
func (w *walk) path() string {
	return strings.ReplaceAll(strings.Join(w.steps, "."), "."+items, items)
}

// literal reports whether a field of the object where the walk stands holds a
// secret as it is: not by a placeholder.
func (w *walk) literal(name string, v any) bool {
	short, about := plain(name), aboutWords()
	if !holds(short) || slices.ContainsFunc(about[:], func(word string) bool { return strings.HasSuffix(short, word) }) {
		return false
	}
	switch v := v.(type) {
	case string:
		return v != "" && !strings.Contains(v, "${")
	case json.Number, float64:
		// A number is a text where all are; elsewhere it is one, such as maxTokens.
		return len(w.steps) > 0 && (w.steps[len(w.steps)-1] == "headers" || w.steps[len(w.steps)-1] == "env")
	}
	return false
}

// most bounds the paths that Find names.
const most = 20

// Find names the fields of a job's data that hold secrets in clear text, and those that
// hold Hidden instead. It returns paths such as headers.Authorization, in order, at most
// 20 of each. Data that are not JSON have none.
func Find(data string) (inClear, hidden []string) {
	v, ok := decode(data)
	if !ok {
		return nil, nil
	}
	w := walk{}
	w.found = func(holder map[string]any, name string) {
		list := &inClear
		if holder[name] == Hidden {
			list = &hidden
		}
		if len(*list) < most {
			*list = append(*list, w.path())
		}
	}
	w.values(v)
	return inClear, hidden
}

// Hide puts Hidden in the place of secrets in clear text in the data of a job.
// A text without one comes back as it is.
func Hide(data string) string {
	v, ok := decode(data)
	if !ok {
		return data
	}
	if changed := hide(v); !changed {
		return data
	}
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if w.Encode(v) != nil { // cannot be: it was JSON
		return "{}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// HideIn is Hide for decoded JSON, which it changes.
func HideIn(v any) any {
	hide(v)
	return v
}

func hide(v any) (changed bool) {
	w := walk{found: func(holder map[string]any, name string) { holder[name], changed = Hidden, true }}
	w.values(v)
	return changed
}

// decode reads the data of a job, unless no name in them can be one of a secret.
func decode(data string) (v any, ok bool) {
	if !holds(plain(data)) && !strings.Contains(data, `\u`) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

// HideAll puts Hidden in the place of all values in decoded JSON whose names say
// that they are secret, whatever they hold. It changes what it is given.
func HideAll(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if Name(name) {
				v[name] = Hidden
			} else {
				v[name] = HideAll(v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = HideAll(v[i])
		}
	}
	return v
}
