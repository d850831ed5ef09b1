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

// report shows what an answer says: the changes on one writer, what could not be done on the other.
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
		a.Raw(v.raw)
	default:
		a.Value(v.Import)
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
	for _, s := range v.Alerting {
		name := s.Kind.Noun() + " " + s.Name
		if s.Action != definition.ActionUnchanged || s.Error != nil {
			r.one(s.Action, name, s.Changes, s.Error)
		}
		for _, w := range s.Warnings {
			_, _ = fmt.Fprintf(r.err, "warning: %s: %s %s\n", name, w.Field, w.Message)
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
	text := fmt.Sprintf("%d created, %d updated, %d unchanged, %d deleted, %d failed",
		v.Created, v.Updated, v.Unchanged, v.Deleted, v.Failed)
	if v.DryRun {
		text += " (dry run: nothing was changed)"
	}
	return text
}

// progressWidth is that of the bar, in characters.
const progressWidth = 30

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	out         io.Writer
	done, total int
}

// newProgress shows how far many steps are; a single one is not worth a bar.
func newProgress(out io.Writer, total int) *progress {
	p := &progress{total: total}
	if _, ok := terminal.Of(out); ok && total > 1 {
		p.out = out
	}
	return p
}

// step is called after each step.
func (p *progress) step() {
	p.done++
	if p.out != nil {
		_, _ = fmt.Fprint(p.out, "\r"+p.line())
	}
}

func (p *progress) line() string {
	full := progressWidth * p.done / p.total
	return fmt.Sprintf("[%s%s] %3d %%", strings.Repeat("#", full), strings.Repeat(".", progressWidth-full),
		100*p.done/p.total)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.out != nil && p.done > 0 {
		_, _ = fmt.Fprint(p.out, "\r"+strings.Repeat(" ", len(p.line()))+"\r")
	}
}
