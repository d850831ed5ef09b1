package documents

import (
	"fmt"
	"io"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/cmd/difference"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
)

// report shows what an answer says: the changes on one writer, what could not
// be done on the other.
type report struct {
	difference.Printer
	err io.Writer
}

// report shows what was done; that something failed is an error.
func (a *applying) report(v answer) error {
	switch {
	case a.ForPeople():
		report{
			Printer: difference.Printer{Out: a.Out, Colour: terminal.Colourful(a.Out, a.Environment("NO_COLOR"))},
			err:     a.Err,
		}.show(v.Import)
	case v.raw != nil:
		if err := a.Raw(v.raw); err != nil {
			return err
		}
	default:
		if err := a.Value(v.Import); err != nil {
			return err
		}
	}
	if v.Failed > 0 {
		return fmt.Errorf("%d could not be applied", v.Failed)
	}
	return nil
}

func (r report) show(v vo.Import) {
	for _, g := range v.Groups {
		if g.Action != definition.ActionUnchanged || g.Error != nil {
			r.one(g.Action, "group "+g.Name, g.Changes, g.Error)
		}
	}
	for _, item := range v.Items {
		r.one(item.Action, item.Group+"/"+item.Name, item.Changes, item.Error)
		for _, w := range item.Warnings {
			_, _ = fmt.Fprintf(r.err, "warning: %s/%s: %s: %s\n", item.Group, item.Name, w.Field, w.Message)
		}
	}
	_, _ = fmt.Fprintln(r.Out, summary(v))
}

func (r report) one(action definition.ChangeAction, name string, changes map[string][2]any, failed *vo.ImportError) {
	signs := map[definition.ChangeAction][2]string{
		definition.ActionCreate: {"+", difference.Green}, definition.ActionUpdate: {"~", difference.Yellow},
		definition.ActionDelete: {"-", difference.Red}, definition.ActionUnchanged: {"=", ""},
	}
	sign := signs[action]
	_, _ = fmt.Fprintln(r.Out, r.Paint(sign[1], sign[0]+" "+strings.ToLower(string(action))+" "+name))
	r.Changes(changes)
	if failed != nil {
		_, _ = fmt.Fprintf(r.err, "%s: %s\n", name, failed.Message)
	}
}

// summary counts in one line.
func summary(v vo.Import) string {
	counts := []string{
		fmt.Sprint(v.Created, " created"), fmt.Sprint(v.Updated, " updated"), fmt.Sprint(v.Unchanged, " unchanged"),
		fmt.Sprint(v.Deleted, " deleted"), fmt.Sprint(v.Failed, " failed"),
	}
	would := ""
	if v.DryRun {
		would = " (dry run: nothing was changed)"
	}
	return strings.Join(counts, ", ") + would
}
