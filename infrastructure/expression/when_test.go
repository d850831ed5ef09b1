package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

var (
	_ validate.Conditions = expression.Whens{}
	_ workflow.Conditions = expression.Whens{}
)

func ended() workflow.Facts {
	return workflow.Facts{
		Params: json.RawMessage(`{"day": "monday", "big": 9007199254740993, "none": null}`),
		Ends: map[string]placeholder.StepEnd{
			"load":      {Status: "SUCCESS", Output: json.RawMessage(`{"rows": 12, "share": 0.5, "on": true, "file": {"name": "a.csv"}, "tags": ["x", "y"]}`)},
			"roll-back": {Status: "SKIPPED", Reason: "UPSTREAM_SKIPPED"},
		},
	}
}

// A condition compares parameters, and the status, the reason and the output of steps.
func TestConditionsOfSteps(t *testing.T) {
	for text, want := range map[string]bool{
		`steps.load.output.rows > 0`:                                                 true,
		`steps.load.output.rows == 12`:                                               true,
		`steps.load.output.rows < 12`:                                                false,
		`steps.load.output.share * 2 >= 1`:                                           true,
		`steps.load.output.on`:                                                       true,
		`not steps.load.output.on`:                                                   false,
		`steps.load.output.file.name endsWith ".csv"`:                                true,
		`steps.load.output.file.name matches "^[a-z]\\.csv$"`:                        true,
		`"x" in steps.load.output.tags`:                                              true,
		`len(steps.load.output.tags) == 2`:                                           true,
		`steps.load.status == "SUCCESS"`:                                             true,
		`steps["roll-back"].status == "SKIPPED"`:                                     true,
		`steps["roll-back"].reason == "UPSTREAM_SKIPPED"`:                            true,
		`params.day in ["monday", "tuesday"]`:                                        true,
		`params["day"] == "sunday"`:                                                  false,
		`params.big == 9007199254740993`:                                             true,
		`params.big == 9007199254740992`:                                             false,
		`steps["roll-back"].status == "SUCCESS" and steps["roll-back"].output.x > 1`: false,
		`steps.load.output.rows > 0 ? params.day == "monday" : params.day == "x"`:    true,
	} {
		steps, problems := expression.Whens{}.Check(text)
		require.Empty(t, problems, text)
		require.Equal(t, strings.Contains(text, "steps"), len(steps) > 0, text)
		holds, err := expression.Whens{}.Holds(text, ended())
		require.NoError(t, err, text)
		require.Equal(t, want, holds, text)
	}
	steps, problems := expression.Whens{}.Check(`steps.a.output.x > 1 and steps["b-c"].status == "DEAD" or params.a == 1`)
	require.Empty(t, problems)
	require.Equal(t, []string{"a", "b-c"}, steps)
}

// A value that is not there, or of another type, is an error, and not a condition that does not hold.
func TestConditionsThatCannotBeEvaluated(t *testing.T) {
	for text, path := range map[string]string{
		`steps.load.output.row > 0`:           "steps.load.output.row",
		`steps.load.output.file.size == 1`:    "steps.load.output.file.size",
		`steps["roll-back"].output.x == "a"`:  "steps.roll-back.output.x",
		`steps.other.status == "SUCCESS"`:     "steps.other.status",
		`params.none == "x"`:                  "params.none",
		`params.other != "x"`:                 "params.other",
		`steps.load.output.rows.a.b.c == "x"`: "steps.load.output.rows.a.b.c",
	} {
		_, err := expression.Whens{}.Holds(text, ended())
		var missing *workflow.MissingError
		require.True(t, errors.As(err, &missing), "%s: %v", text, err)
		require.Equal(t, path, strings.Join(missing.Path, "."), text)
	}
	for _, text := range []string{
		`params.day > 3`, `steps.load.output.file.name`, `steps.load.output.rows matches "x"`, `steps.load.output.tags > 1`,
	} {
		_, err := expression.Whens{}.Holds(text, ended())
		require.ErrorContains(t, err, "cannot be evaluated", text)
	}
}

// The bounds are those of rules, and each refusal says where and what to write.
func TestConditionsAreBounded(t *testing.T) {
	for text, want := range map[string]string{
		`steps.load.output.rows >`:                          "too early",
		`steps.roll-back.status == "SUCCESS"`:               `steps.roll is no value; write steps.NAME.output.FIELD`,
		`rows > 1`:                                          "unknown name rows; a condition reads params.NAME",
		`steps.load == 1`:                                   "1:7 steps.load is no value",
		`steps.load.outputs.x == 1`:                         "is no part of a step; write steps.NAME.output.FIELD",
		`steps.load.status.x == 1`:                          "is no part of a step",
		`params == 1`:                                       "write params.NAME",
		`steps.load.status == "SUCESS"`:                     `no step ends as "SUCESS"; use one of`,
		`steps.load.status in ["RUNNING"]`:                  `no step ends as "RUNNING"`,
		`1 < 2`:                                             "constant",
		`true`:                                              "the same answer in every run",
		`steps.load.output.a == nil`:                        "nothing is nil here",
		`any([1], # > steps.load.output.a)`:                 "conditions have no",
		`$env.steps.load.output.a > 1`:                      "conditions have no $env",
		`steps.load.output.a ** 9 > 1`:                      "conditions have no operator **",
		`now() > params.at`:                                 "conditions have no",
		`steps[params.name].status == "DEAD"`:               "name a field by a constant",
		`steps.load.output.list[0] > 5`:                     "conditions read no item of a list by its number",
		`params.a matches params.b`:                         "give the pattern as a constant",
		`params.a matches "(a{100}){100}"`:                  "pattern",
		"params.a == \"" + strings.Repeat("x", 1024) + "\"": "use at most 1024 bytes",
		strings.Repeat("params.a > 1 or ", 60) + "params.b": "exceeds maximum",
	} {
		_, problems := expression.Whens{}.Check(text)
		require.NotEmpty(t, problems, text)
		require.Contains(t, strings.Join(problems, "\n"), want, text)
		_, err := expression.Whens{}.Holds(text, ended())
		require.Error(t, err, text)
	}
}
