package workflow

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// check checks each workflow of a file.
func check(k *remote.Call) error {
	all, err := read(k)
	if err != nil {
		return err
	}
	items, faults := make([]vo.WorkflowCheck, len(all)), 0
	for i := range all {
		w := &all[i]
		faults += len(w.Faults)
		items[i] = vo.NewWorkflowCheck(w.Job, len(w.Definition.Steps), w.Faults, w.Warnings)
		say(k, w)
	}
	if !k.ForPeople() {
		output.Items(&k.Printer, items)
	}
	if faults > 0 {
		return fmt.Errorf("%s has %s", k.Args[0], counted(faults, "fault"))
	}
	return nil
}

// say prints what was found of a workflow for people.
func say(k *remote.Call, w *request.Workflow) {
	if !k.ForPeople() {
		return
	}
	var rows [][]string
	for _, f := range w.Faults {
		rows = append(rows, []string{"fault", f.Field, f.Message})
	}
	for _, f := range w.Warnings {
		rows = append(rows, []string{"warning", f.Field, f.Message})
	}
	switch {
	case len(w.Faults) > 0:
		k.Line("%s has %s", output.Printable(title(w)), counted(len(w.Faults), "fault"))
	default:
		k.Line("%s is good: %s", output.Printable(title(w)), counted(len(w.Definition.Steps), "step"))
	}
	if len(rows) > 0 {
		k.Rows([]string{"KIND", "FIELD", "MESSAGE"}, rows)
	}
}
