//go:build linux

package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const rates = `
name: rates
group: pay
jobType: COMMAND
jobData:
  interpreter: sh
  script: 'echo "error: no rates for $DAY" >&2; exit 3'
  env: {DAY: "${params.day}"}
`

// After an outage, the failed runs are counted by job and cause, and run again after a question.
func TestFailedRunsAreRunAgainAfterAQuestion(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", s.file("rates.yaml", rates))
	for _, day := range []string{"2026-11-13", "2026-11-14", "2026-11-15"} {
		code, _, errOut := s.run("job", "trigger", "rates", "-w", "--param", "day="+day)
		require.Equal(t, 1, code, errOut)
	}
	choice := []string{"execution", "retry", "--group", "pay", "--reason", "EXIT_CODE"}
	code, out, errOut := s.run(append(choice, "--dry-run")...)
	require.Zero(t, code, errOut)
	require.Regexp(t, `(?m)^rates +3$`, out)
	require.Contains(t, out, "no rates for")
	require.Contains(t, errOut, "runs: 3, jobs: 1; left out: 0 that were run again")

	code, _, errOut = s.run(choice...)
	require.NotZero(t, code, "nobody can be asked")
	require.Contains(t, errOut, "--yes")
	atTerminal(t, "n\n")
	code, _, errOut = s.run(choice...)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "Run them again (runs: 3, jobs: 1)? [y/N] error: nothing was changed")
	require.NotContains(t, s.must("execution", "list"), "RETRY")

	s.must("job", "apply", "-f", s.file("rates.yaml", strings.Replace(rates, "exit 3", "exit 0", 1)))
	atTerminal(t, "y\n")
	code, out, errOut = s.run(choice...)
	require.Zero(t, code, errOut)
	require.Contains(t, errOut, "3 done, 0 failed")
	for _, id := range strings.Fields(out[strings.LastIndex(out, "no rates for"):]) {
		if len(id) == 36 {
			s.run("execution", "logs", "-f", id)
			require.Contains(t, s.must("execution", "get", id), "SUCCESS")
		}
	}
	require.Equal(t, 3, strings.Count(s.must("execution", "list", "--trigger", "RETRY"), "SUCCESS"))
	out = s.must(append(choice, "--dry-run", "-o", "json")...)
	require.Contains(t, out, `"leftOut":{"runAgain":3,`)
	require.NotContains(t, out, "planId")

	for args, says := range map[string]string{
		"":                        "name runs by their ids, or choose failed ones",
		"0193 --reason ERROR":     "not both",
		"--group pay --wait":      "follow one run",
		"--group pay --limit 0":   "must be from 1 to 5000",
		"--status SUCCESS":        "must be one of",
		"--job nobody":            "nobody",
		"--from 2099-01-01":       "must be before",
		"--cause 12":              "16 hexadecimal letters",
		"--group=":                "must not be empty",
		"--job=":                  "must not be empty",
		"--status failed --job x": "x",
	} {
		code, _, errOut := s.run(append([]string{"execution", "retry"}, strings.Fields(args)...)...)
		require.NotZero(t, code, args)
		require.Contains(t, errOut, says, args)
	}
}
