package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// execution is what the commands show of a run.
type execution struct {
	ID           string  `json:"id"`
	JobName      string  `json:"jobName"`
	Status       string  `json:"status"`
	Reason       string  `json:"reason"`
	Attempt      int     `json:"attempt"`
	StartTime    *string `json:"startTime"`
	DurationMs   *int64  `json:"durationMs"`
	ErrorMessage string  `json:"errorMessage"`
}

func (r *remote) executionCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "execution", Short: "See and steer runs", Example: "  platform-scheduler execution list --status FAILED", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	on := func(name, short, method, suffix string) *cobra.Command {
		return &cobra.Command{
			Use: name + " ID", Short: short, Example: "  platform-scheduler execution " + name + " 0193…", Args: usageArgs(cobra.ExactArgs(1)),
			RunE: func(c *cobra.Command, args []string) error {
				return r.send(c, method, "/executions/"+url.PathEscape(args[0])+suffix, nil)
			},
		}
	}
	c.AddCommand(r.executionList(), r.executionLogs(),
		on("get", "Show a run", "GET", ""), on("cancel", "Ask a run to end", "POST", "/cancel"), on("retry", "Run it again, as a new run", "POST", "/retry"))
	return c
}

func (r *remote) executionList() *cobra.Command {
	var jobName, group, status string
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Example: "  platform-scheduler execution list --job \"settle orders\" --status FAILED", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := r.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if status != "" {
				query.Set("status", status)
			}
			if jobName != "" {
				j, err := r.findJob(c, api, jobName, group)
				if err != nil {
					return err
				}
				query.Set("jobId", j.ID)
			}
			runs, err := client.List[execution](c.Context(), api, "/executions", query, limit)
			if err != nil {
				return err
			}
			return show(r, runs, "ID\tJOB\tSTATUS\tREASON\tATTEMPT\tSTART\tTOOK", func(e execution) []any {
				took := "–"
				if e.DurationMs != nil {
					took = (time.Duration(*e.DurationMs) * time.Millisecond).String()
				}
				return []any{e.ID, e.JobName, e.Status, e.Reason, e.Attempt, deref(e.StartTime), took}
			}, "%s\t%s\t%s\t%s\t%d\t%s\t%s")
		},
	}
	list.Flags().StringVar(&jobName, "job", "", "only runs of this job, by name or id")
	list.Flags().StringVar(&group, "group", "", "the group of the job")
	list.Flags().StringVar(&status, "status", "", "only runs in this state")
	list.Flags().IntVar(&limit, "limit", 50, "at most so many; 0 for all")
	return list
}

// logLine is one line of a run's log.
type logLine struct {
	Seq    int64  `json:"seq"`
	Stream string `json:"stream"`
	Line   string `json:"line"`
}

func (r *remote) executionLogs() *cobra.Command {
	var follow bool
	logs := &cobra.Command{
		Use: "logs ID", Short: "Print the log of a run", Long: "Print the log of a run: its stdout on stdout, everything else on stderr. With -f\nuntil the run has ended; the exit code is then 1 unless it succeeded.",
		Example: "  platform-scheduler execution logs -f 0193…", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := r.client()
			if err != nil {
				return err
			}
			path := "/executions/" + url.PathEscape(args[0]) + "/logs"
			if follow {
				return r.follow(c, api, path+"/stream")
			}
			lines, err := client.List[logLine](c.Context(), api, path, nil, 0)
			for _, line := range lines {
				r.printLine(line)
			}
			return err
		},
	}
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	return logs
}

func (r *remote) printLine(l logLine) {
	if l.Stream == "STDOUT" {
		_, _ = fmt.Fprintln(r.out, l.Line)
		return
	}
	_, _ = fmt.Fprintln(r.err, l.Line)
}

// errLost is a stream that ended before the run did.
var errLost = errors.New("the stream was lost")

// reconnects bounds how often in a row a lost stream is opened again in vain.
const reconnects = 10

// follow prints a stream of events to its end; a lost one goes on after the
// last line.
func (r *remote) follow(c *cobra.Command, api *client.Client, path string) error {
	last := ""
	wait := clock.NewSystem().NewTimer(0)
	defer wait.Stop()
	for vain := 0; ; vain++ {
		before := last
		status, err := r.events(c, api, path, &last)
		switch {
		case err == nil && status == "SUCCESS":
			return nil
		case err == nil:
			return fmt.Errorf("the run ended as %s", status)
		case !errors.Is(err, errLost):
			return err
		}
		if last != before {
			vain = 0
		}
		if vain >= reconnects {
			return err
		}
		wait.Reset(time.Second)
		select {
		case <-c.Context().Done():
			return c.Context().Err()
		case <-wait.C():
		}
	}
}

// events reads one stream; status is that of the run when it ended.
func (r *remote) events(c *cobra.Command, api *client.Client, path string, last *string) (status string, err error) {
	body, err := api.Stream(c.Context(), path, *last)
	var problem *client.Problem
	if errors.As(err, &problem) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLost, err)
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	var event, id, data string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if event == "end" {
				var end struct{ Status string }
				return end.Status, json.Unmarshal([]byte(data), &end)
			}
			var line logLine
			if event == "line" && json.Unmarshal([]byte(data), &line) == nil {
				r.printLine(line)
				*last = id
			}
			event = ""
		}
	}
	return "", errLost
}
