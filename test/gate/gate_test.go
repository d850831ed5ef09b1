package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const begin = "package a\n\nimport (\"os\"; \"testing\")\n\nvar _ = os.Stat\n\n"

// once is a test that does something the first time it runs in its module.
func once(name, does string) string {
	return "func " + name + "(t *testing.T) { if os.Mkdir(\"../" + name + "\", 0o700) == nil { " + does + " } }\n"
}

const wrong = `t.Error("no luck")`

// tried runs the gate in a module of its own.
func tried(t *testing.T, files map[string]string, args ...string) (said string, status int) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module tried\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	t.Chdir(dir)
	for name, value := range map[string]string{"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "PS_TEST_SEED": ""} {
		t.Setenv(name, value)
	}
	var out bytes.Buffer
	status = command(append([]string{"-flag", "-timeout=3s"}, args...), &out, &out)
	return out.String(), status
}

// A run passes, names what is flaky, or fails, by how its tests fail.
func TestAFaultIsToldFromBadLuck(t *testing.T) {
	for name, c := range map[string]struct {
		tests  string
		status int
		says   []string
		not    string
	}{
		"all is well": {"func TestA(t *testing.T) {}\n", 0, []string{"ok  \ttried/bad", "=== tests passed"}, "FLAKY"},
		"once": {
			once("TestA", wrong) + once("TestB", wrong), 0,
			[]string{
				"=== FLAKY tried/bad TestA", "=== FLAKY tried/bad TestB: mend it", "no luck", "--- alone it passed with:",
				"=== tests passed",
			},
			"what failed",
		},
		"a subtest": {
			once("TestA", `t.Run("sub", func(t *testing.T) { t.Error("no luck") })`), 0,
			[]string{"=== FLAKY tried/bad TestA", "--- FAIL: TestA/sub"},
			"what failed",
		},
		"with the same seed": {
			once("TestA", `t.Error("PS_TEST_SEED=42 repeats these choices")`) +
				"func TestB(t *testing.T) { if os.Getenv(\"PS_TEST_SEED\") == \"42\" { t.Log(\"b has it\") } }\n", 0,
			[]string{"+ again, alone: tried/bad TestA PS_TEST_SEED=42"},
			"what failed",
		},
		"always":      {"func TestA(t *testing.T) { t.Error() }\n", 1, []string{"tried/bad TestA: twice", "=== tests FAILED"}, "FLAKY"},
		"torn":        {once("TestA", `panic("torn")`), 1, []string{"tried/bad: a panic, a hang or a lost process", "panic: torn", "--- FAIL: TestA"}, "again, alone"},
		"left":        {once("TestA", `os.Exit(1)`), 1, []string{"it failed outside of its tests"}, "again, alone"},
		"hung":        {once("TestA", `select {}`), 1, []string{"panic: test timed out"}, "again, alone"},
		"half":        {"func TestA(t *testing.T) { missing() }\n", 1, []string{"tried/bad: it did not build", "undefined: missing"}, "again, alone"},
		"a violation": {once("TestA", `t.Error("VIOLATION: rule 3")`), 1, []string{"tried/bad TestA: an oracle found a violation"}, "again, alone"},
		"three": {
			once("TestA", wrong) + once("TestB", wrong) + once("TestC", wrong), 0,
			[]string{"=== FLAKY tried/bad TestC: mend it"},
			"what failed",
		},
		"four": {
			once("TestA", wrong) + once("TestB", wrong) + once("TestC", wrong) + once("TestD", wrong), 1,
			[]string{"4 tests are FLAKY; more than 3 are a failure"},
			"twice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			said, status := tried(t, map[string]string{
				"bad/a_test.go": begin + c.tests, "good/a_test.go": begin + "func TestGood(t *testing.T) {}\n",
			}, "./...")
			require.Equal(t, c.status, status, said)
			for _, text := range c.says {
				require.Contains(t, said, text)
			}
			require.NotContains(t, said, c.not)
			require.Contains(t, said, "ok  \ttried/good")
		})
	}
}

// Many failures are not run again.
func TestTooManyFailuresAreNotRunAgain(t *testing.T) {
	var tests strings.Builder
	for _, name := range strings.Split("ABCDEFGHIJK", "") {
		tests.WriteString(once("Test"+name, wrong))
	}
	said, status := tried(t, map[string]string{"bad/a_test.go": begin + tests.String()}, "./...")
	require.Equal(t, 1, status)
	require.Contains(t, said, "11 tests failed: too many to run them again")
	require.NotContains(t, said, "again, alone")
}

// A known red is run and told, and fails nothing; a panic beside it does.
func TestAKnownRedFailsNothing(t *testing.T) {
	list := "# why\n\nbad TestA 2026-11-27 it waits for the clock\n"
	files := func(tests string) map[string]string {
		return map[string]string{"bad/a_test.go": begin + tests, "known.txt": list}
	}
	const red = "func TestA(t *testing.T) { t.Error() }\n"
	said, status := tried(t, files(red), "-known", "known.txt", "./...")
	require.Zero(t, status, said)
	require.Contains(t, said, "=== known reds, which may fail:\n  bad TestA 2026-11-27 it waits for the clock")
	require.Contains(t, said, "=== of them failed:\n  tried/bad TestA 2026-11-27 it waits for the clock")
	require.NotContains(t, said, "again, alone")

	said, status = tried(t, files(red+"func TestB(t *testing.T) { panic(1) }\n"), "-known", "known.txt", "./...")
	require.Equal(t, 1, status, said)
}

// A list that hides too much, or says too little, is refused.
func TestTheListOfKnownRedsIsRead(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"no cause": {"bad TestA 2026-11-27\n", "known.txt:1: write PACKAGE TEST SINCE CAUSE"},
		"no date":  {"\nbad TestA lately why\n", `known.txt:2: "lately" is no date: write YYYY-MM-DD`},
		"too many": {manyReds(), "known.txt names 21 tests; it may name 20: mend some"},
	} {
		t.Run(name, func(t *testing.T) {
			said, status := tried(t, map[string]string{"known.txt": c.text}, "-known", "known.txt", "./...")
			require.Equal(t, 2, status)
			require.Contains(t, said, c.says)
		})
	}
	reds, err := readKnown("../known-reds.txt")
	require.NoError(t, err)
	for red := range reds {
		found, err := filepath.Glob(filepath.Join("../..", red.pkg, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, found, "%s has no tests", red.pkg)
	}
}

func manyReds() string {
	var lines strings.Builder
	for i := range 21 {
		lines.WriteString("bad Test" + strings.Repeat("A", i+1) + " 2026-11-27 why\n")
	}
	return lines.String()
}

// Of a narrowed package only the named tests run; a call that is wrong says so.
func TestAPackageIsNarrowed(t *testing.T) {
	tests := map[string]string{
		"bad/a_test.go": begin + "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Error() }\n",
	}
	said, status := tried(t, tests, "-narrow", "./bad=^TestA$")
	require.Zero(t, status, said)
	require.Contains(t, said, "ok  \ttried/bad")
	for _, args := range [][]string{{"-narrow", "./bad"}, {}, {"-nosuch"}, {"-known", "nosuch", "./..."}} {
		said, status = tried(t, tests, args...)
		require.Equal(t, 2, status, said)
	}
}

// A race report is shown whole, though it may stand in the output of another test.
func TestRacesAreShownWhole(t *testing.T) {
	const race = "==================\nWARNING: DATA RACE\nRead at 0x1\n==================\n"
	events := `{"Action":"output","Package":"p","Test":"TestB","Output":` + quoted(race) + `}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`
	all, err := collect(strings.NewReader(events), func(r *report, _ event) {})
	require.NoError(t, err)
	require.Equal(t, []string{"WARNING: DATA RACE\nRead at 0x1\n"}, all[0].races())
	require.Empty(t, all[0].broken())
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, "\n", `\n`) + `"` }
