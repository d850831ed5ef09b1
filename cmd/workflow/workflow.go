// Package workflow holds the commands that check, draw and simulate workflows of files. They call no server.
package workflow

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// maxFile bounds a file, in bytes.
const maxFile = 16 << 20

// Command makes the command with those below it.
func Command(s *remote.Session) *cobra.Command {
	chosen := remote.Flag{Name: "workflow", Help: "`NAME`, or group/name, of the workflow, where the file holds several"}
	return s.Parent(remote.Verb{
		Use: "workflow", Short: "Check, draw and simulate workflows of files; steer their runs", Local: true,
		Long: `Check, draw and simulate workflows of files: no server is asked for these. The
others, below runs, ask the server for workflow runs and steer them.

A FILE holds a document {version: 1, workflows: [{name, steps}]}, or one
workflow {name, steps}, as YAML or JSON; - is standard input.`,
		Example: "workflow validate settlement.yaml\nworkflow simulate settlement.yaml --outcome extract=FAILED",
	}, remote.Verb{
		Use: "validate FILE", Short: "Check the workflows of a file; exit code 1 names every fault", Run: check,
		Long: `Check the workflows of a file: all faults at once, each with its field and a
remedy. Warnings fail nothing. What servers alone know is not checked: jobs,
users, teams, handlers and secrets by their names.`,
		Example: "workflow validate settlement.yaml\nworkflow validate settlement.yaml -o json",
	}, remote.Verb{
		Use: "graph FILE", Short: "Draw a workflow as text, Mermaid or DOT", Run: draw,
		Example: "workflow graph settlement.yaml\nworkflow graph settlement.yaml --format mermaid",
		Own: []remote.Flag{
			{Name: "format", Default: formatText, Help: "`FORMAT` for people: text, mermaid or dot"}, chosen,
		},
	}, remote.Verb{
		Use: "simulate FILE", Short: "Show what becomes of each step, with outcomes that you choose", Run: play,
		Long: `Play a workflow run with the decision of the engine, and with outcomes that you
choose: nothing is run. A step of which you say nothing succeeds. A condition is
evaluated as far as its values are known here, and else taken to hold. Each step
says why it came to its end. With --order all, every order in which live steps
may end is played; orders that end alike are shown once.

Exit code 0: it was played, whatever the workflow run came to; 1: the file has
faults; 2: wrong usage, such as an outcome of a step that is not there.`,
		Example: "workflow simulate settlement.yaml --outcome extract=FAILED\n" +
			"workflow simulate scores.yaml --items score=5 --outcome score[2]=DEAD\n" +
			"workflow simulate prices.yaml --when approve=false --order all",
		Own: []remote.Flag{
			{Name: "outcome", Default: remote.Each{}, Help: "`STEP=OUTCOME`, such as extract=FAILED or score[2]=DEAD; " +
				"REJECTED is for approvals"},
			{Name: "when", Default: remote.Each{}, Help: "`STEP=true|false`: the answer of the condition of a step"},
			{Name: "items", Default: remote.Each{}, Help: "`STEP=N`: how many items the list of a step has"},
			{Name: "param", Default: remote.Each{}, Help: "`NAME=VALUE`: a parameter that conditions read"},
			{Name: "order", Default: orderFirst, Help: "`ORDER` in which live steps end: first (as in the file), random or all"},
			{Name: "seed", Default: 1, Help: "with --order random: the same `NUMBER` gives the same order"},
			chosen,
		},
	})
}

// read reads the workflows of a file.
func read(k *remote.Call) ([]request.Workflow, error) {
	name := k.Args[0]
	if info, err := os.Stat(name); name != "-" && err == nil && info.Size() > maxFile {
		return nil, fmt.Errorf("%s: a file has at most %s", name, request.Size(maxFile))
	}
	text, err := remote.ReadFile(name)
	if err != nil {
		return nil, err
	}
	reader := request.WorkflowReader{JobReader: request.JobReader{
		Now: k.Clock.Now, Checker: validate.Checker{Ports: validate.Ports{Conditions: expression.Whens{}}},
	}}
	all, err := reader.Read(k.Cmd.Context(), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// title names a workflow for people.
func title(w *request.Workflow) string { return w.Job.Group + "/" + w.Job.Name }

// one reads the workflow that is meant, which must be without faults.
func one(k *remote.Call) (w *request.Workflow, g *workflow.Graph, err error) {
	all, err := read(k)
	if err != nil {
		return nil, nil, err
	}
	name := k.Given("workflow")
	var names []string
	for i := range all {
		names = append(names, title(&all[i]))
		if name == "" || name == all[i].Job.Name || name == title(&all[i]) {
			if w != nil {
				return nil, nil, usage.Errorf("%s holds several workflows; name one of %s with --workflow", k.Args[0],
					strings.Join(namesOf(all), ", "))
			}
			w = &all[i]
		}
	}
	if w == nil {
		return nil, nil, usage.Errorf("%s holds no workflow %q; there are %s", k.Args[0], name, strings.Join(names, ", "))
	}
	if len(w.Faults) > 0 {
		for _, f := range w.Faults {
			k.Notef("%s: %s", f.Field, f.Message)
		}
		return nil, nil, fmt.Errorf("%s has %s; mend them first", title(w), counted(len(w.Faults), "fault"))
	}
	g, err = workflow.NewGraph(w.Definition)
	return w, g, err
}

func namesOf(all []request.Workflow) (names []string) {
	for i := range all {
		names = append(names, title(&all[i]))
	}
	return slices.Compact(names)
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
