// Command gate runs Go tests for `make test` and tells a fault from bad luck.
//
// A test that failed runs once more, alone and with the same seed. If it passes
// then, it is FLAKY: both outputs stand at the end, and the run goes on. More than
// mostFlaky of them are a failure. A failed build, a panic, a hang and a violation
// that an oracle found are never run again. Tests of the file -known may fail.
//
//	gate [-known FILE] [-flag FLAG]… [-narrow PACKAGE=REGEXP]… PACKAGE…
//
// Each -flag goes to `go test`; of a package of -narrow, only those tests run. Exit
// status 0: passed; 1: something failed; 2: the call itself is wrong.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// command carries out a command line, and returns its exit status.
func command(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.SetOutput(complaints)
	var given, narrow list
	file := flags.String("known", "", "the file of tests that may fail")
	flags.Var(&given, "flag", "a flag of go test")
	flags.Var(&narrow, "narrow", "PACKAGE=REGEXP: the only tests of a package that run")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	calls, err := split(flags.Args(), narrow)
	if err != nil {
		_, _ = fmt.Fprintln(complaints, "gate:", err)
		return 2
	}
	var reds known
	if *file != "" {
		if reds, err = readKnown(*file); err != nil {
			_, _ = fmt.Fprintln(complaints, "gate:", err)
			return 2
		}
	}
	if !newGate(goTest(given), reds, out).run(calls) {
		return 1
	}
	return 0
}

// call is one call of go test: packages, and the only tests that run; none means all.
type call struct {
	packages []string
	only     string
}

// split makes a call of the packages, and one of each narrowed package.
func split(packages []string, narrow list) ([]call, error) {
	var calls []call
	if len(packages) > 0 {
		calls = append(calls, call{packages: packages})
	}
	for _, text := range narrow {
		name, only, found := strings.Cut(text, "=")
		if !found || name == "" || only == "" {
			return nil, fmt.Errorf("-narrow %q: write PACKAGE=REGEXP", text)
		}
		calls = append(calls, call{packages: []string{name}, only: only})
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("no package is given: name some, as in `gate ./...`")
	}
	return calls, nil
}
