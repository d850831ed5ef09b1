package workflow

import (
	"fmt"
	"strconv"
	"strings"
)

// Key names an execution of a step within a run: name, name[17] for an item of a map, name~2 for the second
// generation.
type Key struct {
	Name string
	// Item counts from 0; Whole is the step itself.
	Item int
	// Generation counts from 1. Each repetition by hand begins another one.
	Generation int
}

// Whole is the item of a key that names the step itself.
const Whole = -1

// String writes the key.
func (k Key) String() string {
	text := k.Name
	if k.Item != Whole {
		text += "[" + strconv.Itoa(k.Item) + "]"
	}
	if k.Generation > 1 {
		text += "~" + strconv.Itoa(k.Generation)
	}
	return text
}

// ParseKey reads a key. Each key has one way to be written.
func ParseKey(text string) (Key, error) {
	k := Key{Item: Whole, Generation: 1}
	rest, generation, later := strings.Cut(text, "~")
	name, item, isItem := strings.Cut(rest, "[")
	k.Name = name
	ok := ValidName(name)
	if isItem {
		item, closed := strings.CutSuffix(item, "]")
		n, good := number(item, 0, MaxItems-1)
		k.Item, ok = n, ok && closed && good
	}
	if later {
		n, good := number(generation, 2, MaxGeneration)
		k.Generation, ok = n, ok && good
	}
	if !ok {
		return Key{}, fmt.Errorf("%.60q is no key of a step; write NAME, NAME[17] or NAME~2", text)
	}
	return k, nil
}

// number reads a number without signs and leading zeros.
func number(text string, low, high int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= low && n <= high && strconv.Itoa(n) == text
}

// ValidName reports whether a text may name a step.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
