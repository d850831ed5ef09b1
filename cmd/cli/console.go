package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// consoleBuffer is the number of lines that may wait for a slow terminal. Further ones are left
// out and counted, because nobody waits for a terminal.
const consoleBuffer = 1000

// console shows what the server does, a line for each run that ends: for people,
// or as JSON where the log is JSON.
type console struct {
	out   io.Writer
	json  bool
	lines chan string
	done  sync.WaitGroup

	mu   sync.Mutex
	lost int
}

func newConsole(out io.Writer, asJSON bool) *console {
	c := &console{out: out, json: asJSON, lines: make(chan string, consoleBuffer)}
	c.done.Go(func() {
		for line := range c.lines {
			_, _ = fmt.Fprintln(out, line)
		}
	})
	return c
}

// Close prints what waits. Nothing may be observed afterwards.
func (c *console) Close() {
	close(c.lines)
	c.done.Wait()
}

// Observe implements completion.Observer.
func (c *console) Observe(job *entity.Job, row *entity.Execution) {
	line := runLine(job, row)
	if c.json {
		line = runJSON(job, row)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost > 0 && c.json {
		line = said("lines left out", map[string]any{"count": c.lost}) + "\n" + line
	} else if c.lost > 0 {
		line = fmt.Sprintf("(%d lines left out)\n%s", c.lost, line)
	}
	select {
	case c.lines <- line:
		c.lost = 0
	default:
		c.lost++
	}
}

// runLine is one run in one line.
func runLine(job *entity.Job, row *entity.Execution) string {
	name := cmp.Or(job.Name, row.JobID)
	if row.ShardTotal > 1 {
		name = fmt.Sprintf("%s [%d/%d]", name, row.ShardIndex+1, row.ShardTotal)
	}
	status := string(row.Status)
	if row.Status == entity.StatusWaiting {
		status = "RETRY"
	}
	line := fmt.Sprintf("%s  %-9s %-34s attempt %d", row.UpdateTime.Local().Format("15:04:05.000"), status, name,
		row.Attempt)
	if row.Attempt == 1 && !row.StartTime.IsZero() {
		line += fmt.Sprintf("  late %s", round(row.Lateness()))
	}
	if row.Duration > 0 {
		line += fmt.Sprintf("  took %s", round(row.Duration))
	}
	if row.Reason != entity.ReasonNone {
		line += "  " + string(row.Reason)
	}
	if row.ErrorMessage != "" {
		line += ": " + firstLine(row.ErrorMessage)
	}
	return line
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}

// lineWidth bounds an error in a line, in runes.
const lineWidth = 80

func firstLine(s string) string {
	runes := []rune(s)
	for i, r := range runes {
		if r == '\n' || i == lineWidth {
			return string(runes[:i]) + " …"
		}
	}
	return s
}

// said is a line of JSON: a message, and fields.
func said(message string, fields map[string]any) string {
	fields["level"], fields["msg"] = "INFO", message
	line, _ := json.Marshal(fields) // texts and numbers alone
	return string(line)
}

// runJSON is one run as a line of JSON.
func runJSON(job *entity.Job, row *entity.Execution) string {
	return said("a run has ended", map[string]any{
		"time": clock.Text(row.UpdateTime), "execution": row.ID, "job": job.Name, "jobId": row.JobID,
		"status": row.Status, "reason": row.Reason, "message": row.ErrorMessage,
		"attempt": row.Attempt, "shardIndex": row.ShardIndex,
		"durationMs": row.Duration.Milliseconds(), "latenessMs": row.Lateness().Milliseconds(),
	})
}

// Welcome prints where to go from here.
func (c *console) Welcome(s *server.Server, applied int) {
	url, passwordFile := s.URL(), s.PasswordFile()
	if c.json {
		_, _ = fmt.Fprintln(c.out, said("platform-scheduler is ready", map[string]any{
			"address": url, "console": s.ServesConsole(), "user": "admin", "passwordFile": passwordFile,
			"jobsCreated": applied,
		}))
		return
	}
	_, _ = fmt.Fprintf(c.out, "\n  platform-scheduler is ready at %s\n", url)
	if s.ServesConsole() {
		_, _ = fmt.Fprintf(c.out, "  console   %s/\n", strings.TrimSuffix(url, "/"))
	}
	password := "as it was set before"
	if passwordFile != "" {
		password = "in " + passwordFile
	}
	_, _ = fmt.Fprintf(c.out, "  user      admin\n  password  %s\n", password)
	if applied > 0 {
		_, _ = fmt.Fprintf(c.out, "  jobs      %d examples were created\n", applied)
	}
	_, _ = fmt.Fprintf(c.out, "  try       curl -s %s/readyz\n\n", url)
}
