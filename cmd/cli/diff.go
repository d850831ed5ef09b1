package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
)

// The colours of a terminal.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	plain  = "\x1b[0m"
)

// terminal is the file descriptor of a writer that is a terminal.
func terminal(w io.Writer) (fd int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// colourful reports whether colours are wanted: on a terminal, unless NO_COLOR
// holds anything (no-color.org).
func colourful(w io.Writer, noColor string) bool {
	_, ok := terminal(w)
	return ok && noColor == ""
}

// differ shows what changes, line by line.
type differ struct {
	out, err io.Writer
	colour   bool
}

func (d differ) paint(colour, text string) string {
	if !d.colour {
		return text
	}
	return colour + text + plain
}

func (d differ) show(v vo.Import) {
	for _, g := range v.Groups {
		if g.Action != service.ActionUnchanged || g.Error != nil {
			d.one(g.Action, "group "+g.Name, g.Changes, g.Error)
		}
	}
	for _, item := range v.Items {
		d.one(item.Action, item.Group+"/"+item.Name, item.Changes, item.Error)
	}
	_, _ = fmt.Fprintln(d.out, summary(v))
}

func (d differ) one(action service.ChangeAction, name string, changes map[string][2]any, failed *vo.ImportError) {
	signs := map[service.ChangeAction][2]string{
		service.ActionCreate: {"+", green}, service.ActionUpdate: {"~", yellow}, service.ActionDelete: {"-", red}, service.ActionUnchanged: {"=", ""},
	}
	sign, colour := signs[action][0], signs[action][1]
	line := sign + " " + strings.ToLower(string(action)) + " " + name
	if colour != "" {
		line = d.paint(colour, line)
	}
	_, _ = fmt.Fprintln(d.out, line)
	for _, field := range slices.Sorted(maps.Keys(changes)) {
		before, after := d.paint(red, compact(changes[field][0])), d.paint(green, compact(changes[field][1]))
		_, _ = fmt.Fprintf(d.out, "    %s: %s → %s\n", field, before, after)
	}
	if failed != nil {
		_, _ = fmt.Fprintf(d.err, "%s: %s\n", name, failed.Message)
	}
}

func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
