package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// test is a test function of a package. A subtest counts as its function, which
// alone can be run again.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + " " + t.name }

// event is a line of `go test -json` (go doc test2json, go help buildjson).
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string
	Elapsed    float64 // seconds
	Output     string
	// FailedBuild names the package that did not build, of which this one has need.
	FailedBuild string
}

// report is what became of one package.
type report struct {
	pkg     string
	failed  []string // tests, in order of their ends
	passed  map[string]bool
	outputs map[string]*strings.Builder
	own     strings.Builder // what no test said
	ended   bool
	bad     bool
	unbuilt bool
}

// broken says why the failure of a package is no matter of single tests: "" where
// it is. A test binary that ran to its end says FAIL in a line of its own.
func (r *report) broken() string {
	if !r.ended || !r.bad {
		return ""
	}
	own := "\n" + r.own.String()
	switch {
	case r.unbuilt:
		return "it did not build"
	case len(r.failed) == 0:
		return "it failed outside of its tests"
	case !strings.Contains(own, "\nFAIL\n"):
		return "a panic, a hang or a lost process"
	default:
		return ""
	}
}

// said is what a test and its subtests said.
func (r *report) said(name string) string {
	if text := r.outputs[name]; text != nil {
		return text.String()
	}
	return ""
}

// violated tells whether an oracle found a violation in a test.
func (r *report) violated(name string) bool {
	return strings.Contains(r.said(name), prooftest.ViolationMark)
}

const (
	raceBegins = "WARNING: DATA RACE"
	raceFrame  = "=================="
)

// races are the reports of data races in a package, whole: the detector writes them
// wherever it is, so that they may stand in the output of another test.
func (r *report) races() []string {
	var found []string
	for _, text := range append([]string{r.own.String()}, convert.All(slices.Sorted(maps.Keys(r.outputs)), r.said)...) {
		for {
			_, rest, more := strings.Cut(text, raceBegins)
			if !more {
				break
			}
			body, after, _ := strings.Cut(rest, raceFrame)
			found, text = append(found, raceBegins+body), after
		}
	}
	return found
}

// collect reads the events of one call of go test until its end, and tells each
// package to done when it has ended. The packages come in order of their first event.
func collect(in io.Reader, done func(*report, event)) ([]*report, error) {
	byName := map[string]*report{}
	var all []*report
	of := func(name string) *report {
		if byName[name] == nil {
			byName[name] = &report{pkg: name, passed: map[string]bool{}, outputs: map[string]*strings.Builder{}}
			all = append(all, byName[name])
		}
		return byName[name]
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Action: "build-output", Output: string(line)}
			}
			take(e, of, done)
		}
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("read what go test says: %w", err)
		}
	}
}

func take(e event, of func(string) *report, done func(*report, event)) {
	if e.Package == "" {
		// A build is told by the package that needs it, whose end names it.
		done(&report{}, e)
		return
	}
	r := of(e.Package)
	name, _, sub := strings.Cut(e.Test, "/")
	switch e.Action {
	case "output":
		if name == "" {
			r.own.WriteString(e.Output)
			return
		}
		if r.outputs[name] == nil {
			r.outputs[name] = &strings.Builder{}
		}
		r.outputs[name].WriteString(e.Output)
	case "pass", "fail", "skip":
		switch {
		case name == "":
			r.ended, r.bad, r.unbuilt = true, e.Action == "fail", e.FailedBuild != ""
			done(r, e)
		case e.Action == "fail" && !sub:
			r.failed = append(r.failed, name)
		case e.Action != "fail" && !sub:
			r.passed[name] = true
		}
	}
}
