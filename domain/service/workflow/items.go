package workflow

import (
	"fmt"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// window starts items of a live map as far as its window is open, and ends the map when nothing of it is live.
func (d *decider) window(i int) {
	each, m := d.step(i).ForEach, d.s.Steps[i].Items
	failed := m.Failed.CountBelow(m.Total)
	stopped := m.Cancelled || each.Exceeded(failed, m.Total)
	if stopped {
		m.Next = m.Inserted
	}
	live := m.Live()
	for !stopped && m.Next < m.Total && (live < each.Window() || m.Final.Has(m.Next)) {
		if !m.Final.Has(m.Next) {
			live++
		}
		m.Next++
	}
	for m.Inserted < m.Next && m.Final.Has(m.Inserted) {
		m.Inserted++
	}
	if live > 0 || !stopped && m.Next < m.Total {
		return
	}
	exceeded := each.Exceeded(failed, m.Total)
	switch {
	case m.Cancelled && (exceeded || m.Final.CountBelow(m.Total) < m.Total):
		d.end(i, wf.FateCancelled, true) // its cancelled items count as failed ones
	case exceeded:
		d.end(i, wf.FateItemsFailed, true)
	default:
		d.end(i, wf.FateSucceeded, true)
	}
}

// wrongItems says why a list cannot be mapped over; empty is nothing.
func wrongItems(step *wf.Step, v Value) string {
	if most := step.ForEach.Most(); v.Items > most || v.Items < 0 {
		return fmt.Sprintf("forEach.items has %d items, and maxItems is %d", v.Items, most)
	}
	return ""
}

// Counts says what became of the items of a map.
type Counts struct {
	Total, Live, Succeeded, Failed int
	// NotRun never began, and have no rows.
	NotRun int
}

// CountsOf are those of a map that was started.
func CountsOf(m *wf.Items) Counts {
	done, failed := m.Final.CountBelow(m.Total), m.Failed.CountBelow(m.Total)
	live := m.Live()
	return Counts{Total: m.Total, Live: live, Succeeded: done - failed, Failed: failed, NotRun: m.Total - done - live}
}
