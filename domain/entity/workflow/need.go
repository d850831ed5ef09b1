package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Class is what the end of a step means for the steps that need it.
type Class string

// The classes. Each final step has one.
const (
	ClassSuccess Class = "success"
	// ClassFailure: it was to run to its end, and did not.
	ClassFailure Class = "failure"
	// ClassBlocked: it did not run, because of a failure that no edge asked for.
	ClassBlocked Class = "blocked"
	// ClassSkipped: it was chosen not to run.
	ClassSkipped Class = "skipped"
)

// Classes lists the classes.
func Classes() []Class { return []Class{ClassSuccess, ClassFailure, ClassBlocked, ClassSkipped} }

// Word is what an edge may ask for: a class, or the short form of several.
type Word string

// shortForms are words for several classes.
func shortForms() map[Word][]Class {
	return map[Word][]Class{
		"unsuccessful": {ClassFailure, ClassBlocked},
		"ok":           {ClassSuccess, ClassSkipped},
		"done":         Classes(),
	}
}

// Classes are those that a word stands for; none for an unknown one.
func (w Word) Classes() []Class {
	for _, c := range Classes() {
		if Word(c) == w {
			return []Class{c}
		}
	}
	return shortForms()[w]
}

// Words lists all that an edge may ask for.
func Words() []string {
	return []string{"success", "failure", "blocked", "skipped", "unsuccessful", "ok", "done"}
}

// Need is an edge: a step that must have ended in one of the ways asked for.
type Need struct {
	Step string
	// On are the ways; nil is success alone.
	On []Word
}

// Accepts reports whether an end of the step is one that the edge asks for.
func (n *Need) Accepts(c Class) bool {
	if n.On == nil {
		return c == ClassSuccess
	}
	for _, w := range n.On {
		for _, class := range w.Classes() {
			if class == c {
				return true
			}
		}
	}
	return false
}

// Join says how many needs must be met.
type Join string

// The joins.
const (
	// JoinAll: all of them, decided when all are final.
	JoinAll Join = "ALL"
	// JoinAny: one of them, decided when the first is met.
	JoinAny Join = "ANY"
)

// Joins lists the joins.
func Joins() []Join { return []Join{JoinAll, JoinAny} }

// Any reports whether one met need is enough.
func (s *Step) Any() bool { return s.Join == JoinAny }

// UnmarshalJSON reads the name of a step, or an object with step and on. Words may be written in capitals.
func (n *Need) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &n.Step)
	}
	var object struct {
		Step string          `json:"step"`
		On   json.RawMessage `json:"on"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&object); err != nil {
		return fmt.Errorf(`a need is the name of a step, or {"step": NAME, "on": ["success"]}: %w`, err)
	}
	n.Step = object.Step
	if len(object.On) == 0 || string(object.On) == "null" {
		return nil
	}
	var one string
	words := []string{}
	if json.Unmarshal(object.On, &one) == nil {
		words = append(words, one)
	} else if err := json.Unmarshal(object.On, &words); err != nil {
		return fmt.Errorf(`"on" is one of %s, or a list of them`, strings.Join(Words(), ", "))
	}
	n.On = make([]Word, len(words))
	for i, w := range words {
		n.On[i] = Word(strings.ToLower(w))
	}
	return nil
}

// MarshalJSON writes a need as short as it can be read.
func (n Need) MarshalJSON() ([]byte, error) {
	if n.On == nil {
		return json.Marshal(n.Step)
	}
	return json.Marshal(struct {
		Step string `json:"step"`
		On   []Word `json:"on"`
	}{n.Step, n.On})
}
