package runs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// logLine is one line of a run's log.
type logLine struct {
	Seq     int64   `json:"seq"`
	Time    *string `json:"time"`
	Stream  string  `json:"stream"`
	Line    string  `json:"line"`
	Attempt int     `json:"attempt"`
}

// lineWriter prints lines of a run for people.
type lineWriter struct {
	*remote.Session
	timestamps bool
	// attempt is that of the last line.
	attempt int
}

// print writes a line: what the run wrote to its stdout on stdout, everything
// else on stderr, as well as where a further attempt begins.
func (w *lineWriter) print(l logLine) {
	if l.Attempt != w.attempt && (w.attempt > 0 || l.Attempt > 1) {
		w.Notef("--- attempt %d ---", l.Attempt)
	}
	w.attempt = l.Attempt
	text := l.Line
	if w.timestamps {
		text = w.Moment(l.Time) + " " + text
	}
	to := w.Err
	if l.Stream == "STDOUT" {
		to = w.Out
	}
	_, _ = fmt.Fprintln(to, coloured(text, terminal.Colourful(to, w.Environment("NO_COLOR"))))
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

// reading are the flags of execution logs.
type reading struct {
	follow, timestamps bool
	job, group         string
	pages              remote.Pages
}

func logsCommand(s *remote.Session) *cobra.Command {
	var r reading
	c := &cobra.Command{
		Use: "logs ID | --job JOB", Short: "Print the log of a run", Args: usage.Args(cobra.MaximumNArgs(1)),
		Long: `Print the log of a run: its stdout on stdout, everything else on stderr. --job
names the latest run of a job. Where a further attempt begins, stderr says so.

With -f it goes on until the run has ended, also while the server is restarted
or another node takes the run over; the last line says what the run ended as,
and the exit code is 1 unless it succeeded.`,
		Example: "  platform-scheduler execution logs -f 0193…\n  platform-scheduler execution logs --job \"settle " +
			"orders\" --timestamps",
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 1) == (r.job != "") {
				return usage.Errorf("name a run by its id, or a job with --job for its latest run")
			}
			return r.run(s, c, args)
		},
	}
	f := c.Flags()
	f.BoolVarP(&r.follow, "follow", "f", false, "follow the log until the run has ended")
	f.BoolVarP(&r.timestamps, "timestamps", "t", false, "begin each line with its time")
	f.StringVar(&r.job, "job", "", "the latest run of this `JOB`, by name or id")
	f.StringVar(&r.group, "group", "", "the group of the job")
	r.pages.Flags(c, 0)
	return c
}

func (r *reading) run(s *remote.Session, c *cobra.Command, args []string) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	id := strings.Join(args, "")
	if len(args) == 0 {
		if id, err = r.latest(s, c, api); err != nil {
			return err
		}
	}
	if r.follow {
		return follow(s, c, api, id, r.timestamps)
	}
	path := "/executions/" + remote.Segment(id)
	answer, items, err := api.Pages(c.Context(), path+"/logs", r.pages.Query(), r.pages.Limit())
	if err != nil {
		return err
	}
	if !s.ForPeople() {
		return s.Raw(answer)
	}
	lines, err := client.Decode[logLine](items)
	if err != nil {
		return err
	}
	w := &lineWriter{Session: s, timestamps: r.timestamps}
	for _, l := range lines {
		w.print(l)
	}
	var e execution
	if err := api.Call(c.Context(), "GET", path, nil, nil, &e); err != nil {
		return err
	}
	if e.Status != succeeded {
		s.Notef("the run is %s", e.outcome())
	}
	return nil
}

// latest is the newest run of a job that has run or will: records of fires that
// were not run have no log.
func (r *reading) latest(s *remote.Session, c *cobra.Command, api *client.Client) (string, error) {
	j, err := s.FindJob(c, api, r.job, r.group)
	if err != nil {
		return "", err
	}
	found, err := client.List[execution](c.Context(), api, "/executions", remote.Query("jobId", j.ID), 200)
	if err != nil {
		return "", err
	}
	for _, e := range found {
		if e.Status != "SKIPPED" {
			return e.ID, nil
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("the job %s has no runs", j.Title())
	}
	return "", errors.New("the latest fires of the job were not run; platform-scheduler job fires says why")
}
