package report

import "github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"

// Workflows says what edges of workflows reach, over the turns. An edge is the entry of the handler of a step that
// follows another one.
type Workflows struct {
	// Rate is the edges a second of the steady load.
	Rate int `json:"rate"`
	// Chains are the edges a second of chains of 10 steps, flat out, and Items the items a second of maps of 10,000, both
	// by the executions a second of bare batched SQL. Graphs are the edges of random graphs of 200 steps by those of
	// chains.
	Chains measure.Spread `json:"chains"`
	Graphs measure.Spread `json:"graphs"`
	Items  measure.Spread `json:"items"`
	// P50 and P99 are of the time from the end of a handler to the entry of the next one, by the lateness of plain
	// executions at the same rate.
	P50 measure.Spread `json:"p50"`
	P99 measure.Spread `json:"p99"`
}

// workflowRows prints what edges reach.
func (r Result) workflowRows(row printer) {
	w := r.Workflows
	if w == nil {
		return
	}
	spread := func(name, of string, s measure.Spread) {
		row(name, "%.2f of %s (95 %%: %.2f to %.2f, %d turns)", s.Median, of, s.Low, s.High, s.Turns)
	}
	spread("edges a second, chains of 10", "bare SQL", w.Chains)
	spread("  random graphs of 200 steps", "those of chains", w.Graphs)
	spread("items a second, maps of 10,000", "bare SQL", w.Items)
	row("from an end to the next entry", "at %d/s", w.Rate)
	spread("  p50", "a plain execution's", w.P50)
	spread("  p99", "a plain execution's", w.P99)
}
