package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

func facts() *alerting.Facts {
	return &alerting.Facts{
		Status: "FAILED", Reason: "TIMEOUT", Trigger: "SCHEDULE", Message: "connection refused by 10.0.0.7", Node: "n1",
		Attempt: 3, Retries: 2, DurationMs: 61_000, LatenessMs: 1500, Fires: 1,
		Job: alerting.JobFacts{
			ID: "j", Name: "settle", Group: "pay", Labels: map[string]string{"tier": "1"}, Version: 4,
			Priority: 5,
		},
		Day:   alerting.DayFacts{Runs: 10, Failed: 4, FailureRate: 0.4, MeanMs: 30_000},
		Usual: alerting.UsualFacts{Runs: 50, Ms: 30_000, LowMs: 20_000, HighMs: 40_000},
	}
}

func TestConditions(t *testing.T) {
	for text, want := range map[string]bool{
		`status == "FAILED"`:                                 true,
		`status in ["TIMEOUT", "DEAD"]`:                      false,
		`status == "FAILED" && durationMs > 60000`:           true,
		`not (retries >= 3) and attempt == 3`:                true,
		`message matches "refused|reset"`:                    true,
		`lower(message) contains "REFUSED"`:                  false,
		`job.labels["tier"] == "1" && job.group == "pay"`:    true,
		`job.labels.tier == "1"`:                             true,
		`job.labels["nobody"] == ""`:                         true,
		`day.failureRate > 0.3 && day.runs >= 10`:            true,
		`usual.runs > 0 && durationMs > 2 * usual.ms`:        true,
		`durationMs / 1000 > 61`:                             false,
		`max(durationMs, latenessMs) == 61000`:               true,
		`(job.priority > 4 ? durationMs : latenessMs) > 100`: true,
		`durationMs / retries > 1 and len(node) == 2`:        true,
		`"tier" in job.labels && durationMs < 2 * 40000`:     true,
		`status in ["FAILED"] == (attempt > 2)`:              true,
	} {
		c, problems := expression.Language{}.Compile(text)
		require.Empty(t, problems, text)
		holds, _, err := c.Holds(facts())
		require.NoError(t, err, text)
		require.Equal(t, want, holds, text)
	}
}

func TestWrongExpressionsAreToldWithTheirPosition(t *testing.T) {
	for text, want := range map[string]string{
		`status = "FAILED"`:                        "1:8",
		`status == "FAILED" &&`:                    "1:21 it ends too early",
		"status == \"FAILED\"\n && durationms > 3": "2:5 unknown name durationms; the fields are status, reason",
		`statu`:                              "1:1 unknown name",
		`status == "FAILD"`:                  `1:11 status is never "FAILD"; use one of SUCCESS`,
		`status in ["FAILED", "DEATH"]`:      `1:22 status is never "DEATH"`,
		`trigger != "CRON"`:                  "1:12 trigger is never",
		`durationMs`:                         "1:1 expected bool",
		`durationMs > "3"`:                   "1:12 invalid operation",
		`true`:                               "1:1 it has the same answer for every end",
		`1 < 2`:                              "1:3 both sides are constants; compare a field",
		`max(1, 2) > 1`:                      "1:11 both sides are constants",
		`durationMs == durationMs`:           "1:12 both sides are the same",
		`$env.status == "FAILED"`:            "1:1 rules have no $env; name the field itself",
		`$env["job"].name == "a"`:            "1:1 rules have no $env",
		`status == "FAI" + "LED"`:            "1:17 texts cannot be joined",
		`"a" + "b" == node`:                  "1:5 texts cannot be joined",
		`"a" + "b"`:                          "1:1 expected bool",
		`"a" in [node + "b"]`:                "1:14 texts cannot be joined",
		`durationMs / 0 > 1`:                 "1:14 nothing can be divided by 0",
		`durationMs / 0.0 > 1`:               "1:14 nothing can be divided by 0",
		`status in []`:                       "1:11 nothing is in an empty list",
		`"name" in job`:                      "1:11 is no list; name values",
		`job == usual`:                       "1:",
		`job == job`:                         "1:5 compare a field of it",
		`job.labels == job.labels`:           "1:12 compare a field of it",
		`status == "FAILED" || true`:         "1:1 it has the same answer",
		`reduce(1..10000000, # + #acc) > 0`:  "1:9 rules have no operator ..",
		`all(1..10, # > 0)`:                  "1:",
		`5 in 1..10000000`:                   "1:7 rules have no operator ..",
		`repeat(message, 1000000) == ""`:     "1:",
		`let a = message; a == ""`:           "1:5 use conditions alone",
		`message + message == ""`:            "1:9 texts cannot be joined",
		`message matches node`:               "1:17 give the pattern as a constant",
		`message matches "("`:                "1:17 the pattern cannot be read",
		`message matches "(x{1,100}){1,10}"`: "1:17 the patterns are too large",
		`job.labels[message] == ""`:          "1:",
		`message[1:2] == "a"`:                "1:8 use conditions alone",
		`node == nil`:                        "1:9 nothing is nil here",
		`durationMs ** 9999999 > 1`:          "1:12 rules have no operator **",
		`len({"a": 1}) == 1`:                 "1:",
		`job.name == "a" && x == 1`:          "1:20 unknown name x",
		`job.nam == "a"`:                     "1:5",
		`now().Year() > 2000`:                "1:",
		strings.Repeat("durationMs > 1 && ", 100) + "durationMs > 1":               "1:",
		"message matches \"" + strings.Repeat("a", 201) + "\"":                     "1:17 use a pattern of at most 200 bytes",
		strings.Repeat(" ", bounds.Expression) + "durationMs > 1":                  "1:1 use at most 4096 bytes",
		strings.Repeat("(", 2000) + "durationMs > 1" + strings.Repeat(")", 2000-1): "1:",
	} {
		c, problems := expression.Language{}.Compile(text)
		require.Nil(t, c, text)
		require.NotEmpty(t, problems, text)
		p := problems[0]
		got := fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message)
		assert.True(t, strings.HasPrefix(got, want), "%.80s: %s", text, got)
		require.NotContains(t, p.Message, "\n")
	}
}

func TestAllProblemsOfAnExpressionAreTold(t *testing.T) {
	_, problems := expression.Language{}.Compile(`status == "X" && trigger == "Y" && message matches "("`)
	require.Len(t, problems, 3)
	_, problems = expression.Language{}.Compile(`status == "X" && durationms > 1`)
	require.Len(t, problems, 2)
	require.Equal(t, 18, problems[1].Column)
	_, problems = expression.Language{}.Compile(`$env.status == "FAILED" && node == "a" + "b"`)
	require.Len(t, problems, 2)
	require.Equal(t, 40, problems[1].Column)
}

func TestAnExpressionSaysWhatItUses(t *testing.T) {
	c, problems := expression.Language{}.Compile(`day.failed > 3 && durationMs > 1`)
	require.Empty(t, problems)
	require.True(t, c.Uses(alerting.PartDay))
	require.False(t, c.Uses(alerting.PartUsual))
}

// The dearest expression that is allowed, over the longest message, is decided: an engine that goes back at each
// letter does not end.
func TestTheDearestExpressionIsBounded(t *testing.T) {
	text := strings.Repeat(`message matches "(a|aa)+b" || `, 20) + `message matches "(a+)+$c"`
	c, problems := expression.Language{}.Compile(text)
	require.Empty(t, problems)
	f := facts()
	f.Message = strings.Repeat("a", 4096)
	holds, _, err := c.Holds(f)
	require.NoError(t, err)
	require.False(t, holds)
}

func TestWhetherAnExpressionMayHoldForASuccess(t *testing.T) {
	for text, want := range map[string]bool{
		`status == "SUCCESS"`:                                      true,
		`"FAILED" == status`:                                       false,
		`status != "SUCCESS"`:                                      false,
		`durationMs > 1`:                                           true,
		`status == "FAILED" && durationMs > 1`:                     false,
		`status == "FAILED" || durationMs > 1`:                     true,
		`status in ["FAILED", "DEAD"]`:                             false,
		`status not in ["FAILED", "DEAD"]`:                         true,
		`not (status == "SUCCESS" || durationMs > 1)`:              false,
		`status == "SUCCESS" ? false : durationMs > 1`:             false,
		`durationMs > 1 ? status == "DEAD" : status == "FAILED"`:   false,
		`(durationMs > 1 || retries > 1) and status != "SUCCESS"`:  false,
		`status == "FAILED" || status == "DEAD" || message == "x"`: true,
		`lower(status) == "failed"`:                                true,
	} {
		c, problems := expression.Language{}.Compile(text)
		require.Empty(t, problems, text)
		require.Equal(t, want, c.MayHold("SUCCESS"), text)
	}
}

// "matches" sees the first 512 bytes, whole characters alone, and each byte counts for each
// instruction of the pattern.
func TestWhatAMatchCosts(t *testing.T) {
	c, problems := expression.Language{}.Compile(`status == "FAILED" && message matches "x{40}$"`)
	require.Empty(t, problems)
	require.Greater(t, c.Steps(), 40)
	cost := func(message string) (bool, int64) {
		f := facts()
		f.Message = message
		holds, steps, err := c.Holds(f)
		require.NoError(t, err)
		return holds, steps
	}
	none := func() int64 { _, n := cost(""); return n }()
	holds, short := cost(strings.Repeat("x", 100))
	require.True(t, holds)
	require.Equal(t, int64(100*c.Steps()), short-none)
	holds, long := cost(strings.Repeat("x", 512) + strings.Repeat("y", 4000))
	require.True(t, holds, "what follows is not seen")
	require.Equal(t, int64(512*c.Steps()), long-none)
	_, cut := cost(strings.Repeat("x", 511) + "é")
	require.Equal(t, int64(511*c.Steps()), cut-none, "no half of a character")

	f := facts()
	f.Status, f.Message = "DEAD", strings.Repeat("x", 4000)
	_, skipped, err := c.Holds(f)
	require.NoError(t, err)
	require.Equal(t, none, skipped, "what is not asked costs nothing")

	c, problems = expression.Language{}.Compile(`lower(message) contains "oom" && status != "SUCCESS"`)
	require.Empty(t, problems)
	require.Zero(t, c.Steps())
	_, read, err := c.Holds(f)
	require.NoError(t, err)
	require.Greater(t, read, int64(8000), "functions over texts cost a step a byte")
}

func TestNobodyCanNameTheMatcher(t *testing.T) {
	for _, text := range []string{
		`matches#("a", 0)`, `Match("a", 0)`, `$env["matches#"]("a", 0)`, `Facts.status == "FAILED"`, `Match == nil`,
	} {
		_, problems := expression.Language{}.Compile(text)
		require.NotEmpty(t, problems, text)
	}
}
