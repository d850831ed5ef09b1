package report

// clusterRows prints what was found out about several nodes.
func (r Result) clusterRows(row printer) {
	if p := r.Probe; p != nil {
		row("a page of jobs meanwhile", "%s of %d, %d failed", p.Ms, p.Calls, p.Errors)
	}
	if i := r.Inversions; i != nil {
		row("starts before a higher priority", "%s", i)
	}
	if f := r.Failover; f != nil {
		how := "killed"
		if f.Freeze {
			how = "frozen"
		}
		row("lost", "a node %s, %d times; lease %d ms", how, f.Rounds, f.LeaseMs)
		row("gap of its fires", "%s, of %d partitions", f.Gap, f.Partitions)
		row("its runs began again after", "%s, %d runs", f.Retried, f.LostRuns)
		row("late results refused", "%d", f.Refused)
	}
	if o := r.Rolling; o != nil {
		row("restarted", "%d nodes, one after the other", o.Restarts)
		row("  stop", "%s", o.Stop)
		row("  start until it takes part", "%s", o.Join)
	}
	if o := r.Outage; o != nil {
		row("store away", "%s", o.Away)
		row("  return to first fire", "%s", o.First)
		row("  return to last late start", "%s", o.Backlog)
	}
	if s := r.Rows; s != nil {
		row("records", "%d; %d missing, %d twice, %d without success, %d with a late result", s.Rows, s.Missing, s.Twice,
			s.Unfinished, s.Stale)
		row("fires with a second attempt", "%d; the first entered after it: %d", s.Retried, s.Superseded)
	}
}

// nodeRows prints what each process has used.
func (r Result) nodeRows(row printer) {
	for _, n := range r.PerNode {
		if n.Restarted {
			row(n.Node, "restarted, %.0f MiB", n.RSSMb)
		} else {
			row(n.Node, "%.1f %% of one core, %.0f MiB", n.CPUPercent, n.RSSMb)
		}
		if n.Starts > 0 {
			row("  starts", "%d", n.Starts)
		}
		if n.Inversions != nil {
			row("  before a higher priority", "%s", n.Inversions)
		}
		if n.ReadyMs > 0 {
			row("  ready after", "%.0f ms", n.ReadyMs)
		}
		queryRows(row, n.QueriesPerSecond)
	}
	if r.ObserverPercent > 0 {
		row("this process, which watches", "%.1f %% of one core", r.ObserverPercent)
	}
}
