// Package prooftest tells which tests could not prove what they are there for,
// because of the machine or the user that runs them: their silence would read as
// a proof.
package prooftest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const (
	// envList names a file, to which each such test adds a line; `make test` shows
	// it at its end.
	envList = "PS_TEST_UNPROVEN"
	// envRequire is 1 where such a test is to fail.
	envRequire = "PS_TEST_REQUIRE_PROOF"
)

// ViolationMark begins each line by which a test tells a violation that an oracle
// found. `make test` runs no such test again: that it passed later proves nothing.
const ViolationMark = "VIOLATION: "

// Violation fails the test with a violation that an oracle found.
func Violation(t testing.TB, format string, values ...any) {
	t.Helper()
	t.Errorf(ViolationMark+format, values...)
}

// Root reports whether the tests run as root; where not, the test is Missing.
func Root(t testing.TB) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return true
	}
	Missing(t, "it takes root")
	return false
}

// Missing says why a test, or a part of it, proves nothing here.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(envRequire) == "1" {
		t.Errorf("not proven: %s", why)
		return
	}
	t.Logf("not proven: %s", why)
	list := os.Getenv(envList)
	if list == "" {
		return
	}
	dir, err := os.Getwd() // a test runs in the folder of its package
	if err == nil {
		err = add(list, fmt.Sprintf("  %s: %s: %s\n", filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)),
			t.Name(), why))
	}
	if err != nil {
		t.Errorf("note what is not proven: %v", err)
	}
}

// add appends a line at once, because tests of several packages do.
func add(list, line string) error {
	f, err := os.OpenFile(list, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
