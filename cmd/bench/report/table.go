package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// printer prints a line of the table.
type printer func(name, format string, args ...any)

func queryRows(row printer, perSecond map[string]float64) {
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(perSecond)) {
		row("  "+name, "%.2f/s", perSecond[name])
		total += perSecond[name]
	}
	if total > 0 {
		row("queries", "%.1f/s", total)
	}
}

// WriteTable prints the result for people.
func (r Result) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	_, _ = fmt.Fprintf(t, "%s\n", r.Name)
	row("store", "%s (%s)", r.Store, strings.Join(r.Durability, ", "))
	row("nodes, jobs, slots, batch", "%d, %d, %d, %d", r.Nodes, r.Jobs, r.Slots, r.BatchSize)
	if r.History > 0 {
		row("runs of the past", "%d", r.History)
	}
	if r.ExecutionsPerSecond > 0 {
		row("executions", "%.0f/s", r.ExecutionsPerSecond)
	}
	if r.CeilingPerSecond > 0 {
		row("bare batched SQL", "%.0f/s; we reach %.0f %%", r.CeilingPerSecond, 100*r.ShareOfCeiling)
	}
	if r.OwnTablePerSecond > 0 {
		row("our own tables, bare", "%.0f/s; we reach %.0f %%", r.OwnTablePerSecond, 100*r.ShareOfOwnTable)
	}
	if r.CoordinatedPerSec > 0 {
		row("coordinated jobs", "%.0f/s", r.CoordinatedPerSec)
	}
	if l := r.LatenessMs; l != nil && r.HTTP == nil {
		row("start lateness", "%s", l)
	}
	if t := r.Talk; t != nil {
		row("executions", "%.0f/s beside silent runs, %.0f/s beside %d that talk (%.0f lines/s)", t.SilentPerSecond,
			t.TalkingPerSecond, Talkers, t.LinesPerSecond)
		row("kept", "%.1f %%, the median of %d pairs", 100*t.Kept, t.Pairs)
	}
	if a := r.API; a != nil {
		row("calls", "%d, %.0f/s, %d failed", a.Calls, a.CallsPerSecond, a.Errors)
		row("reads", "%s", a.Reads)
		row("writes", "%s", a.Writes)
		for _, name := range slices.Sorted(maps.Keys(a.ByCall)) {
			row("  "+name, "%s", a.ByCall[name])
		}
	}
	if t := r.Tail; t != nil {
		row("followed", "%d logs, %d lines, %.0f lines/s, %d streams opened again", t.Tails, t.Lines, t.LinesPerSecond,
			t.Reconnects)
		row("delay of a line", "%s", t.DelayMs)
		row("  of the fast log", "%s", t.TorrentDelayMs)
	}
	r.alertRows(row)
	r.stormRows(row)
	r.workerRows(row)
	r.workflowRows(row)
	r.consoleRows(row)
	r.httpRows(row)
	r.clusterRows(row)
	if r.LastStartMs > 0 {
		row("last start", "%.0f ms after the instant", r.LastStartMs)
	}
	if r.ReadyMs > 0 {
		row("ready after", "%.0f ms", r.ReadyMs)
	}
	if r.Planned > 0 {
		row("planned, lost, doubled", "%d, %d, %d", r.Planned, r.Lost, r.Doubled)
	}
	if len(r.PerNode) == 0 {
		row("this process", "%.1f %% of one core, %.0f MiB", r.CPUPercent, r.RSSMb)
		queryRows(row, r.QueriesPerSecond)
	}
	r.nodeRows(row)
	return t.Flush()
}
