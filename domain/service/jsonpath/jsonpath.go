// Package jsonpath finds a part of a JSON value by names and positions: .rows[0].id.
package jsonpath

import (
	"encoding/json"
	"strconv"
	"strings"
)

const (
	// maxSteps bounds the names and positions of one path, and maxName the length of a name.
	maxSteps = 20
	maxName  = 50
)

// Path is a way into a JSON value.
type Path []step

// step is the name of a field, or a position in a list.
type step struct {
	name     string
	position int
}

// Parse reads .NAME and [POSITION], any number of them.
func Parse(text string) (path Path, ok bool) {
	for text != "" {
		if len(path) == maxSteps {
			return nil, false
		}
		if inner, is := strings.CutPrefix(text, "["); is {
			digits, rest, closed := strings.Cut(inner, "]")
			n, err := strconv.Atoi(digits)
			if !closed || err != nil || n < 0 || strconv.Itoa(n) != digits {
				return nil, false
			}
			path, text = append(path, step{position: n}), rest
			continue
		}
		inner, is := strings.CutPrefix(text, ".")
		end := strings.IndexAny(inner, ".[")
		if end < 0 {
			end = len(inner)
		}
		if !is || !goodName(inner[:end]) {
			return nil, false
		}
		path, text = append(path, step{name: inner[:end]}), inner[end:]
	}
	return path, true
}

func goodName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// In finds the part of a JSON value, with the digits of its numbers. Null is no value.
func (p Path) In(value json.RawMessage) (part json.RawMessage, found bool) {
	for _, s := range p {
		if s.name != "" {
			var object map[string]json.RawMessage
			if json.Unmarshal(value, &object) != nil {
				return nil, false
			}
			value = object[s.name]
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || s.position >= len(list) {
			return nil, false
		}
		value = list[s.position]
	}
	return value, len(value) > 0 && string(value) != "null"
}
