package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	settlement = "../../docs/workflows/nightly-settlement.yaml"
	scores     = "../../docs/workflows/score-customers.yaml"
	prices     = "../../docs/workflows/release-price-list.yaml"
)

// simulate returns each step with status and reason, and the end of the workflow run.
func simulate(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := run(t, nil, append([]string{"workflow", "simulate", "-o", "json"}, args...)...)
	require.Zero(t, code, errOut)
	var v struct {
		Endings []struct {
			Status, Reason string
			Steps          []struct{ Step, Status, Reason string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	require.Len(t, v.Endings, 1, out)
	var said []string
	for _, s := range v.Endings[0].Steps {
		said = append(said, strings.TrimSpace(s.Step+" "+s.Status+" "+s.Reason))
	}
	return strings.Join(append(said, strings.TrimSpace(v.Endings[0].Status+" "+v.Endings[0].Reason)), ", ")
}

// The documents of docs/workflows.md come to what the page says.
func TestWorkflowSimulate(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{settlement, "extract SUCCESS, settle SUCCESS, report SUCCESS, SUCCESS"},
		{
			settlement + " --outcome extract=FAILED",
			"extract FAILED ERROR, settle SKIPPED UPSTREAM_FAILED, report SKIPPED UPSTREAM_FAILED, FAILED STEP_FAILED",
		},
		{
			settlement + " --when settle=false", // what follows a step that is skipped by choice is skipped, too
			"extract SUCCESS, settle SKIPPED CONDITION, report SKIPPED UPSTREAM_SKIPPED, SUCCESS",
		},
		{
			scores + " --items score=200 --outcome score[7]=DEAD --outcome score[8]=dead",
			"list SUCCESS, score SUCCESS, publish SUCCESS, SUCCESS",
		},
		{
			scores + " --items score=199 --outcome score[7]=DEAD --outcome score[8]=DEAD", // more than 1 percent
			"list SUCCESS, score FAILED STEP_FAILED, publish SKIPPED UPSTREAM_FAILED, FAILED STEP_FAILED",
		},
		{scores + " --items score=0", "list SUCCESS, score SUCCESS, publish SUCCESS, SUCCESS"},
		{
			prices,
			"build SUCCESS, approve SUCCESS, publish SUCCESS, roll-back SKIPPED UPSTREAM_SKIPPED, tell SUCCESS, SUCCESS",
		},
		{
			prices + " --when approve=false",
			"build SUCCESS, approve SKIPPED CONDITION, publish SUCCESS, roll-back SKIPPED UPSTREAM_SKIPPED, tell SUCCESS, " +
				"SUCCESS",
		},
		{
			prices + " --outcome approve=REJECTED",
			"build SUCCESS, approve FAILED REJECTED, publish SKIPPED UPSTREAM_FAILED, roll-back SKIPPED UPSTREAM_FAILED, " +
				"tell SUCCESS, FAILED STEP_FAILED",
		},
		{
			prices + " --outcome publish=FAILED", // an edge asks for it, and the run has failed all the same
			"build SUCCESS, approve SUCCESS, publish FAILED ERROR, roll-back SUCCESS, tell SUCCESS, FAILED STEP_FAILED",
		},
		{
			prices + " --outcome tell=TIMEOUT --order random --seed 7",
			"build SUCCESS, approve SUCCESS, publish SUCCESS, roll-back SKIPPED UPSTREAM_SKIPPED, tell TIMEOUT TIMEOUT, " +
				"FAILED FINALLY_FAILED",
		},
	} {
		require.Equal(t, c.want, simulate(t, strings.Fields(c.args)...), c.args)
		if !strings.Contains(c.args, "random") && !strings.Contains(c.args, "items") {
			require.Equal(t, c.want, simulate(t, append(strings.Fields(c.args), "--order", "all")...), c.args)
		}
	}
	code, out, errOut := run(t, nil, "workflow", "simulate", prices, "--outcome", "build=FAILED", "--order", "all")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "it is held (onStepFailure HOLD)")
	require.Contains(t, out, "it asks for success of build, which ended as failure")
	require.Contains(t, out, "the workflow run ends as FAILED (STEP_FAILED)")
	require.Contains(t, out, "every order of ends comes to this")
}

// A condition reads the parameters that are given, or their defaults.
func TestWorkflowSimulateWithParameters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
name: n
parameters: [{name: day, type: STRING, default: monday}]
steps: [{name: a, when: params.day == "monday" and params.size > 3, wait: {forSec: 1}}]
`), 0o600))
	require.Equal(t, "a SUCCESS, SUCCESS", simulate(t, file, "--param", "size=4"))
	require.Equal(t, "a SKIPPED CONDITION, SUCCESS", simulate(t, file, "--param", "size=3"))
	require.Equal(t, "a SKIPPED CONDITION, SUCCESS", simulate(t, file, "--param", "day=sunday"))
	require.Equal(t, "a FAILED INVALID, FAILED STEP_FAILED", simulate(t, file, "--param", "size=big"))
}

func TestWorkflowValidate(t *testing.T) {
	for _, file := range []string{settlement, scores, prices} {
		code, out, errOut := run(t, nil, "workflow", "validate", file)
		require.Zero(t, code, errOut)
		require.Contains(t, out, " is good: ")
	}
	file := filepath.Join(t.TempDir(), "w.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
version: 1
workflows:
- {name: good, steps: [{name: a, wait: {forSec: 1}}, {name: b, needs: [{step: a, on: blocked}], wait: {forSec: 1}}]}
- {name: bad, group: g, steps: [{name: a, wiat: {forSec: 1}}, {name: b, needs: [c], wait: {forSec: 1}}]}
`), 0o600))
	code, out, errOut := run(t, nil, "workflow", "validate", file)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "has 2 faults")
	require.Contains(t, out, "default/good is good: 2 steps")
	require.Contains(t, out, "g/bad has 2 faults")
	require.Regexp(t, `warning +workflows\[0\]\.steps\[1\]\.needs +can never run`, out)
	require.Regexp(t, `fault +workflows\[1\]\.steps\[0\]\.wiat +is not a field here; did you mean wait\?`, out)
	require.Regexp(t, `fault +workflows\[1\]\.steps\[1\]\.needs\[0\] +"c" is no step here`, out)
	var v struct {
		Items []struct {
			Name   string
			Good   bool
			Faults []struct{ Field, Code, Message string }
		}
	}
	code, out, _ = run(t, nil, "workflow", "validate", file, "-o", "json")
	require.Equal(t, 1, code)
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	require.True(t, v.Items[0].Good)
	require.Equal(t, "bad", v.Items[1].Name)
	require.Equal(t, "unknown_field", v.Items[1].Faults[0].Code)

	code, _, errOut = run(t, nil, "workflow", "graph", file, "--workflow", "bad")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "mend them first")
	code, _, errOut = run(t, nil, "workflow", "graph", file)
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "name one of default/good, g/bad with --workflow")
	code, out, errOut = run(t, nil, "workflow", "graph", file, "--workflow", "default/good")
	require.Zero(t, code, errOut)
	require.Equal(t, "a  wait\nb  wait      <- a (blocked)\n", out)
}

func TestWorkflowGraph(t *testing.T) {
	code, out, errOut := run(t, nil, "workflow", "graph", prices)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "publish    http      <- build, approve (success, skipped)\n")
	require.Contains(t, out, "tell       custom    [finally]\n")
	_, out, _ = run(t, nil, "workflow", "graph", prices, "--format", "mermaid")
	require.True(t, strings.HasPrefix(out, "flowchart TD\n"), out)
	require.Contains(t, out, `  s1["approve · approval · when steps.build.output.changed &gt; 100"]`)
	require.Contains(t, out, "  s0 --> s2\n  s1 -->|success, skipped| s2\n")
	_, out, _ = run(t, nil, "workflow", "graph", prices, "--format", "dot")
	require.True(t, strings.HasPrefix(out, `digraph "shop/release price list" {`), out)
	require.Contains(t, out, `  "publish" -> "roll-back" [label="failure"];`)
	var v struct {
		Steps []struct{ Name, Kind string }
		Edges []struct {
			From, To string
			On       []string
		}
	}
	_, out, _ = run(t, nil, "workflow", "graph", prices, "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	require.Len(t, v.Steps, 5)
	require.Len(t, v.Edges, 4)
	require.Equal(t, []string{"success", "skipped"}, v.Edges[2].On)
}

// Wrong usage is told before anything is played, with what is right.
func TestWorkflowUsage(t *testing.T) {
	for args, want := range map[string]string{
		"simulate " + prices + " --outcome biuld=FAILED":          `"biuld" is no step of the workflow; did you mean "build"?`,
		"simulate " + prices + " --outcome build":                 "write STEP=OUTCOME",
		"simulate " + prices + " --outcome build=BROKEN":          "choose one of SUCCESS, FAILED",
		"simulate " + prices + " --when build=true":               "build has no condition",
		"simulate " + prices + " --when approve=maybe":            "write STEP=true or STEP=false",
		"simulate " + prices + " --items build=2":                 "build has no forEach",
		"simulate " + prices + " --order any":                     "--order is first, random or all",
		"simulate " + prices + " --seed 3":                        "goes with --order random",
		"simulate " + prices + " --workflow other":                `holds no workflow "other"; there are shop/release price list`,
		"simulate " + scores + " --items score=2 --items score=3": "score is given twice",
		"simulate " + scores + " --outcome score[1]=DEAD":         "--items score=2",
		"graph " + prices + " --format svg":                       "--format is text, mermaid or dot",
		"validate":                                                "accepts 1 arg",
		"simulat " + prices:                                       `did you mean simulate?`,
	} {
		code, out, errOut := run(t, nil, append([]string{"workflow"}, strings.Fields(args)...)...)
		require.Equal(t, 2, code, "%s: %s %s", args, out, errOut)
		require.Contains(t, errOut, want, args)
	}
	code, _, errOut := run(t, nil, "workflow", "validate", "no-such-file.yaml")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "no-such-file.yaml")
	code, _, errOut = run(t, nil, "workflow", "validate", "../../docs/workflows.md")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "../../docs/workflows.md: it is no YAML as it is read here")
}
