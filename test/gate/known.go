package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// mostKnown bounds the file of known reds: a longer list would hide what is new.
const mostKnown = 20

// known is the tests that may fail, by package and name.
type known map[test]string

// readKnown reads lines of `PACKAGE TEST SINCE CAUSE…`, the package without the
// module's name and SINCE as a date. Empty lines and those with # say nothing.
func readKnown(path string) (known, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller names its own file
	if err != nil {
		return nil, fmt.Errorf("read the known reds: %w", err)
	}
	reds := known{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 4 {
			return nil, fmt.Errorf("%s:%d: write PACKAGE TEST SINCE CAUSE, as in "+
				"`domain/lists TestOrder 2026-11-27 the order of equal names`", path, i+1)
		}
		if _, err := time.Parse(time.DateOnly, words[2]); err != nil {
			return nil, fmt.Errorf("%s:%d: %q is no date: write YYYY-MM-DD", path, i+1, words[2])
		}
		reds[test{words[0], words[1]}] = strings.Join(words[2:], " ")
	}
	if len(reds) > mostKnown {
		return nil, fmt.Errorf("%s names %d tests; it may name %d: mend some", path, len(reds), mostKnown)
	}
	return reds, nil
}

// of finds why a test may fail. Packages of the file lack the module's name.
func (k known) of(t test) (cause string, found bool) {
	for red, cause := range k {
		if red.name == t.name && (red.pkg == t.pkg || strings.HasSuffix(t.pkg, "/"+red.pkg)) {
			return cause, true
		}
	}
	return "", false
}

// lines prints the list in order of names.
func (k known) lines() []string {
	var all []string
	for red, cause := range k {
		all = append(all, fmt.Sprintf("  %s %s %s", red.pkg, red.name, cause))
	}
	slices.Sort(all)
	return all
}
