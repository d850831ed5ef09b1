package documents

import (
	"fmt"
	"io"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
)

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
