package report

import "github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"

// Workers compares jobs that a worker runs with the same jobs as handlers of the server: each figure is the worker's by
// the server's, over the turns.
type Workers struct {
	// Rate is the fires a second of the steady load.
	Rate int `json:"rate"`
	// Throughput is of the executions a second, flat out; P50 and P99 are of the time from the due moment to the entry of
	// the handler, at the steady rate.
	Throughput measure.Spread `json:"throughput"`
	P50        measure.Spread `json:"p50"`
	P99        measure.Spread `json:"p99"`
}

// IdleWorkers is what workers without runs cost a server, beside none.
type IdleWorkers struct {
	Workers int `json:"workers"`
	// CPUPercentMore is of one core.
	CPUPercentMore float64 `json:"cpuPercentMore"`
	RSSMbMore      float64 `json:"rssMbMore"`
	// Looks are those at the leases of all, one a second: Lapsed counts leases that were over, and LeastLeaseMs is the
	// shortest rest of one.
	Looks            int                `json:"looks"`
	Lapsed           int                `json:"lapsed"`
	LeastLeaseMs     int64              `json:"leastLeaseMs"`
	QueriesPerSecond map[string]float64 `json:"queriesPerSecond,omitempty"`
}

// workerRows prints what workers cost.
func (r Result) workerRows(row printer) {
	if i := r.IdleWorkers; i != nil {
		row("with idle workers", "%d: %.1f %% of one core and %.0f MiB more", i.Workers, i.CPUPercentMore, i.RSSMbMore)
		row("their leases", "%d looks, %d over, at least %d ms left", i.Looks, i.Lapsed, i.LeastLeaseMs)
		queryRows(row, i.QueriesPerSecond)
	}
	w := r.Workers
	if w == nil {
		return
	}
	spread := func(name string, s measure.Spread) {
		row(name, "%.2f of the server's (95 %%: %.2f to %.2f, %d turns)", s.Median, s.Low, s.High, s.Turns)
	}
	spread("executions a second on a worker", w.Throughput)
	row("due to handler entry", "at %d/s", w.Rate)
	spread("  p50 on a worker", w.P50)
	spread("  p99 on a worker", w.P99)
}
