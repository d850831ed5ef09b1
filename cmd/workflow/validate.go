package workflow

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// checked is what a check found of a workflow.
type checked struct {
	Name     string    `json:"name"`
	Group    string    `json:"group"`
	Steps    int       `json:"steps"`
	Good     bool      `json:"good"`
	Faults   []finding `json:"faults"`
	Warnings []finding `json:"warnings"`
}

// finding is what is wrong, in the form of the API.
type finding struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func findings(fields []apperror.Field) []finding {
	out := make([]finding, len(fields))
	for i, f := range fields {
		out[i] = finding{Field: f.Field, Code: f.Code, Message: f.Message}
	}
	return out
}

// check checks each workflow of a file.
func check(k *remote.Call) error {
	all, err := read(k)
	if err != nil {
		return err
	}
	items, faults := make([]checked, len(all)), 0
	for i := range all {
		w := &all[i]
		faults += len(w.Faults)
		items[i] = checked{
			Name: w.Job.Name, Group: w.Job.Group, Steps: len(w.Definition.Steps), Good: len(w.Faults) == 0,
			Faults: findings(w.Faults), Warnings: findings(w.Warnings),
		}
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
