package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

const (
	// mostFlaky is how many tests may pass at the second try alone. One is bad luck on
	// a busy machine; more say that the change has done something.
	mostFlaky = 3
	// mostAgain bounds the second tries: where more failed, nobody needs them to know.
	mostAgain = 10
)

// runner calls go test, and hands its events to read. env is added to the environment.
type runner func(args, env []string, read func(io.Reader) error) error

// goTest runs the go command that is found in the PATH.
func goTest(flags []string) runner {
	return func(args, env []string, read func(io.Reader) error) error {
		all := slices.Concat([]string{"test", "-json"}, flags, args)
		cmd := exec.CommandContext(context.Background(), "go", all...) //nolint:gosec // the command line is the caller's own
		cmd.Env = append(os.Environ(), env...)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return fmt.Errorf("listen to go test: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start go test: %w", err)
		}
		if err := read(out); err != nil {
			return err
		}
		// The events say what failed; the status adds nothing where there were any.
		return cmd.Wait() //nolint:wrapcheck // the caller names the call
	}
}

// gate holds what a run has found so far. It serves one goroutine.
type gate struct {
	goTest runner
	known  known
	out    io.Writer
	begun  time.Time

	failures []string // for the list at the end
	flaky    []flake
	reds     []string // known, and failed
	again    []failure
}

// flake is a test that passed at its second try, with what both tries said.
type flake struct {
	test
	said string
}

// failure is a test that failed by what it asserts.
type failure struct {
	test
	report *report
}

func newGate(goTest runner, reds known, out io.Writer) *gate {
	return &gate{goTest: goTest, known: reds, out: out, begun: time.Now()}
}

func (g *gate) say(format string, values ...any) { _, _ = fmt.Fprintf(g.out, format+"\n", values...) }

// run carries out the calls, then the second tries, and tells whether all is well.
func (g *gate) run(calls []call) bool {
	for _, c := range calls {
		g.first(c)
	}
	g.second()
	return g.close()
}

// first carries out a call, and sorts what failed.
func (g *gate) first(c call) {
	args := c.packages
	if c.only != "" {
		args = append([]string{"-run", c.only}, args...)
	}
	var all []*report
	err := g.goTest(args, nil, func(in io.Reader) (err error) {
		all, err = collect(in, g.show)
		return err
	})
	found := false
	for _, r := range all {
		switch {
		case !r.ended:
			g.failures = append(g.failures, fmt.Sprintf("  %s: it was not seen to its end", r.pkg))
			found = true
		case r.bad:
			g.sort(r)
			found = true
		}
	}
	if err != nil && !found {
		g.failures = append(g.failures, fmt.Sprintf("  go test %s: %v, see above", strings.Join(args, " "), err))
	}
}

// show prints the end of a package as go test does, with what its failed tests said.
func (g *gate) show(r *report, e event) {
	switch {
	case e.Package == "":
		_, _ = io.WriteString(g.out, e.Output)
	case e.Action == "fail":
		for _, name := range r.failed {
			_, _ = io.WriteString(g.out, r.said(name))
		}
		if r.broken() != "" {
			for name := range r.outputs {
				if !r.passed[name] && !slices.Contains(r.failed, name) {
					_, _ = io.WriteString(g.out, r.said(name))
				}
			}
		}
		_, _ = io.WriteString(g.out, r.own.String())
	case e.Action == "pass":
		g.say("ok  \t%s\t%.3fs", e.Package, e.Elapsed)
	}
}

// sort decides for each failed test of a package whether it is known, a failure, or run again.
func (g *gate) sort(r *report) {
	if why := r.broken(); why != "" {
		g.failures = append(g.failures, fmt.Sprintf("  %s: %s", r.pkg, why))
		for _, name := range r.failed {
			g.failures = append(g.failures, "    --- FAIL: "+name)
		}
		return
	}
	for _, name := range r.failed {
		t := test{r.pkg, name}
		cause, is := g.known.of(t)
		switch {
		case is:
			g.reds = append(g.reds, fmt.Sprintf("  %s %s", t, cause))
		case r.violated(name):
			g.failures = append(g.failures, fmt.Sprintf("  %s: an oracle found a violation", t))
		default:
			g.again = append(g.again, failure{t, r})
		}
	}
}

// second runs what failed by an assertion once more, each test alone.
func (g *gate) second() {
	if len(g.again) > mostAgain {
		for _, f := range g.again {
			g.failures = append(g.failures, fmt.Sprintf("  %s", f.test))
		}
		g.say("=== %d tests failed: too many to run them again", len(g.again))
		return
	}
	for _, f := range g.again {
		g.alone(f)
	}
}

// seed finds the choices of a failed test; rapid finds its own in testdata.
var seed = regexp.MustCompile(randtest.Variable + `=(\d+)`)

func (g *gate) alone(f failure) {
	first := f.report.said(f.name)
	var env []string
	if found := seed.FindString(first); found != "" {
		env = append(env, found)
	}
	g.say("+ again, alone: %s %s", f.test, strings.Join(env, " "))
	var out bytes.Buffer
	err := g.goTest([]string{"-count=1", "-run", "^" + f.name + "$", f.pkg}, env, func(in io.Reader) error {
		_, err := collect(in, func(r *report, e event) {
			out.WriteString(e.Output)
			out.WriteString(r.said(f.name))
			out.WriteString(r.own.String())
		})
		return err
	})
	if err != nil {
		_, _ = g.out.Write(out.Bytes())
		g.failures = append(g.failures, fmt.Sprintf("  %s: twice", f.test))
		return
	}
	text := "--- it failed with:\n" + first
	for _, race := range f.report.races() {
		if !strings.Contains(first, race) {
			text += "--- a data race of the package:\n" + race
		}
	}
	g.flaky = append(g.flaky, flake{f.test, text + "--- alone it passed with:\n" + out.String()})
}

// close prints the end, and tells whether all is well.
func (g *gate) close() bool {
	if len(g.flaky) > mostFlaky {
		g.failures = append(g.failures, fmt.Sprintf("  %d tests are FLAKY; more than %d are a failure",
			len(g.flaky), mostFlaky))
	}
	for _, f := range g.flaky {
		g.say("\n=== FLAKY %s\n%s", f.test, f.said)
	}
	if len(g.known) > 0 {
		g.say("\n=== known reds, which may fail:\n%s", strings.Join(g.known.lines(), "\n"))
	}
	if len(g.reds) > 0 {
		g.say("=== of them failed:\n%s", strings.Join(g.reds, "\n"))
	}
	if len(g.failures) > 0 {
		g.say("\n=== what failed:\n%s", strings.Join(g.failures, "\n"))
	}
	for _, f := range g.flaky {
		g.say("=== FLAKY %s: mend it", f.test)
	}
	verdict := "passed"
	if len(g.failures) > 0 {
		verdict = "FAILED"
	}
	took := time.Since(g.begun).Round(time.Second)
	g.say("=== tests %s in %d min %02d s", verdict, int(took.Minutes()), int(took.Seconds())%60)
	return len(g.failures) == 0
}
