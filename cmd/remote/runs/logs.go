package runs

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// logLine is one line of a run's log.
type logLine struct {
	Time, Stream, Line string
	Attempt            int
	// Unfinished: the next line of the stream and attempt takes its place.
	Unfinished bool
}

// replacedBy reports whether another line takes the place of this one.
func (l *logLine) replacedBy(next *logLine) bool {
	return l.Unfinished && next != nil && next.Stream == l.Stream && next.Attempt == l.Attempt && next.Line != ""
}

// shown leaves out the lines that later ones replace.
func shown(lines []logLine) []logLine {
	var kept []logLine
	next := map[string]*logLine{}
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		if !l.replacedBy(next[l.Stream]) {
			kept = append(kept, *l)
		}
		next[l.Stream] = l
	}
	slices.Reverse(kept)
	return kept
}

// lineWriter prints lines of a run for people.
type lineWriter struct {
	*remote.Session
	timestamps bool
	// attempt is that of the last line.
	attempt int
	// open is an unfinished line, which a terminal shows already.
	open *logLine
}

// print writes a line: what the run wrote to its stdout on stdout, everything
// else on stderr, as well as where a further attempt begins.
func (w *lineWriter) print(l logLine) {
	w.endOpen(&l)
	if l.Attempt != w.attempt && (w.attempt > 0 || l.Attempt > 1) {
		w.Notef("--- attempt %d ---", l.Attempt)
	}
	w.attempt = l.Attempt
	if !l.Unfinished {
		w.write(l, "\n")
		return
	}
	w.open = &l
	if _, seen := terminal.Of(w.stream(l)); seen {
		w.write(l, "")
	}
}

// endOpen ends an unfinished line, unless the next one takes its place; nil is the end of the log.
func (w *lineWriter) endOpen(next *logLine) {
	l := w.open
	if l == nil {
		return
	}
	w.open = nil
	_, seen := terminal.Of(w.stream(*l))
	switch replaced := l.replacedBy(next); {
	case seen && replaced:
		_, _ = fmt.Fprint(w.stream(*l), "\r\x1b[K")
	case seen:
		_, _ = fmt.Fprintln(w.stream(*l))
	case !replaced:
		w.write(*l, "\n")
	}
}

// stream is where a line is written to.
func (w *lineWriter) stream(l logLine) io.Writer {
	if l.Stream == "STDOUT" {
		return w.Out
	}
	return w.Err
}

func (w *lineWriter) write(l logLine, end string) {
	text := l.Line
	if w.timestamps {
		text = w.Moment(l.Time) + " " + text
	}
	to := w.stream(l)
	_, _ = fmt.Fprint(to, coloured(text, terminal.Colourful(to, w.Environment("NO_COLOR"))), end)
}

// colours are the sequences that a line of a log may have; nothing else in it steers a terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// coloured is a line with its colours, which end with it, or without them.
func coloured(line string, wanted bool) string {
	switch {
	case !strings.Contains(line, "\x1b"):
		return line
	case !wanted:
		return colours.ReplaceAllString(line, "")
	default:
		return line + "\x1b[0m"
	}
}

var logs = remote.Verb{
	Use: "logs ID | --job JOB", Short: "Print the log of a run", Args: cobra.MaximumNArgs(1),
	Long: `Print the log of a run: its stdout on stdout, everything else on stderr. --job
names the latest run of a job. Where a further attempt begins, stderr says so.

With -f it goes on until the run has ended, also while the server is restarted
or another node takes the run over; the last line says what the run ended as,
and the exit code is 1 unless it succeeded.`,
	Example: "execution logs -f 0193…\nexecution logs --job \"settle orders\" --timestamps",
	Own: []remote.Flag{
		{Name: "follow", Short: "f", Default: false, Help: "follow the log until the run has ended"},
		{Name: "timestamps", Short: "t", Default: false, Help: "begin each line with its time"},
		{Name: "job", Help: "the latest run of this `JOB`, by name or id"},
		{Name: "group", Help: "the group of the job"},
	},
	Paged: true,
	Check: func(k *remote.Call) error {
		switch job := k.Given("job"); {
		case (len(k.Args) == 1) == (job != ""):
			return usage.Errorf("name a run by its id, or a job with --job for its latest run")
		case job == "" && k.Given("group") != "":
			return usage.Errorf("--group goes with --job: an id names its run alone")
		case k.On("follow") && (k.Changed("cursor") || k.Changed("limit")):
			return usage.Errorf("-f prints the whole log: --cursor and --limit go without it")
		}
		return nil
	},
	Find: latest,
	Run: func(k *remote.Call) error {
		if k.On("follow") {
			return follow(k, k.ID)
		}
		answer, items, err := k.Pages(k.Path("/executions/{id}/logs"), nil)
		if err != nil {
			return err
		}
		if !k.ForPeople() {
			k.Raw(answer)
			return nil
		}
		lines, err := client.Decode[logLine](items)
		if err != nil {
			return err
		}
		w := &lineWriter{Session: k.Session, timestamps: k.On("timestamps")}
		for _, l := range shown(lines) {
			w.print(l)
		}
		w.endOpen(nil)
		o, err := k.Get(k.Path("/executions/{id}"), nil)
		if err == nil && o.Text("status") != succeeded {
			k.Notef("the run is %s", outcome(o))
		}
		return err
	},
}

// latest finds the run that is named, or the newest of a job that has run or will: records of fires that
// were not run have no log.
func latest(k *remote.Call) error {
	if len(k.Args) == 1 {
		k.ID = k.Args[0]
		return nil
	}
	j, err := k.FindJob(k.Given("job"), k.Given("group"))
	if err != nil {
		return err
	}
	found, err := client.List[struct{ ID, Status string }](k.Cmd.Context(), k.API, "/executions",
		remote.Query(map[string]any{"jobId": j.ID}), 200)
	if err != nil {
		return err
	}
	for _, e := range found {
		if k.ID = e.ID; e.Status != "SKIPPED" {
			return nil
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("the job %s has no runs", j.Title())
	}
	return errors.New("the latest fires of the job were not run; platform-scheduler job fires says why")
}
