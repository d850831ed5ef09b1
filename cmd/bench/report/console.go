package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// The promises of the console: what the browsers add to a server at most.
const (
	ConsoleQueries = 25.0
	ConsolePercent = 15.0
)

// Console is what browsers on the overview cost a server, beside the same server without them.
type Console struct {
	Browsers int `json:"browsers"`
	Users    int `json:"users"`
	// Answers are those to reads of the pages; NotModified are those of them without a body.
	Answers          int                `json:"answers"`
	AnswersPerSecond float64            `json:"answersPerSecond"`
	NotModified      int                `json:"notModified"`
	BodyKBPerSecond  float64            `json:"bodyKBPerSecond"`
	AnswerMs         *measure.Quantiles `json:"answerMs"`
	ByPage           map[string]float64 `json:"answersPerSecondByPage"`
	Errors           int                `json:"errors"`
	EventsPerSecond  float64            `json:"eventsPerSecond"`
	StreamsLost      int                `json:"streamsLost"`
	// Without and With are the server's. Added is what the browsers make of it: of queries, the
	// sum over those statements that became more, which Result.QueriesPerSecond shows.
	Without ServerCost `json:"without"`
	With    ServerCost `json:"with"`
	Added   ServerCost `json:"added"`
}

// ServerCost is what a server uses; the CPU is in percent of one core.
type ServerCost struct {
	CPUPercent       float64 `json:"cpuPercent"`
	QueriesPerSecond float64 `json:"queriesPerSecond"`
}

// broken names the promises that did not hold.
func (c *Console) broken() (out []string) {
	if c == nil {
		return nil
	}
	if c.Added.QueriesPerSecond > ConsoleQueries {
		out = append(out, fmt.Sprintf("%d browsers add %.1f queries a second, more than %.0f", c.Browsers,
			c.Added.QueriesPerSecond, ConsoleQueries))
	}
	if c.Added.CPUPercent > ConsolePercent {
		out = append(out, fmt.Sprintf("%d browsers add %.1f %% of one core, more than %.0f %%", c.Browsers,
			c.Added.CPUPercent, ConsolePercent))
	}
	if c.Errors > 0 {
		out = append(out, fmt.Sprintf("%d reads failed", c.Errors))
	}
	return out
}

// consoleRows prints what browsers cost.
func (r Result) consoleRows(row printer) {
	c := r.Console
	if c == nil {
		return
	}
	row("browsers, users", "%d, %d", c.Browsers, c.Users)
	row("answers", "%.0f/s, %d of %d without a body, %.0f KB/s, %d failed", c.AnswersPerSecond, c.NotModified, c.Answers,
		c.BodyKBPerSecond, c.Errors)
	row("  time", "%s", c.AnswerMs)
	for _, name := range slices.Sorted(maps.Keys(c.ByPage)) {
		row("  "+name, "%.1f/s", c.ByPage[name])
	}
	row("events", "%.0f/s, %d streams lost", c.EventsPerSecond, c.StreamsLost)
	row("without browsers", "%.1f %% of one core, %.1f queries/s", c.Without.CPUPercent, c.Without.QueriesPerSecond)
	row("with browsers", "%.1f %% of one core, %.1f queries/s", c.With.CPUPercent, c.With.QueriesPerSecond)
	row("added", "%.1f %% of one core, %.1f queries/s", c.Added.CPUPercent, c.Added.QueriesPerSecond)
	if broken := c.broken(); len(broken) > 0 {
		row("broken", "%s", strings.Join(broken, "; "))
	}
}
