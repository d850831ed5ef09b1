package workflow

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// RowKind says what is to be done with a row.
type RowKind int

// The kinds of rows.
const (
	// RowStart: the execution is started, or waits for its start.
	RowStart RowKind = iota + 1
	// RowMap stands for a map while its items run: it is RUNNING without a node.
	RowMap
	// RowFinal: the execution is born final.
	RowFinal
	// RowFinish: the row of a map, which is there, ends.
	RowFinish
)

// Row is an execution to be stored.
type Row struct {
	Kind RowKind
	Step int
	Key  wf.Key
	// Status, Reason and Message are those of a final row.
	Status  entity.Status
	Reason  entity.Reason
	Message string
	// Until is when an approval or a wait ends by itself, as far as the definition says; zero otherwise.
	Until time.Time
}

// rows lists all that is decided and not stored: a map stands before its items, and these in their order.
func (d *decider) rows() (rows []Row) {
	for _, i := range d.g.Order() {
		s := &d.s.Steps[i]
		if s.Owed {
			if row, ready := d.row(i); ready {
				rows = append(rows, row)
			}
		}
		if s.Fate != wf.FateLive || s.Items == nil {
			continue
		}
		for item := s.Items.Inserted; item < s.Items.Next; item++ {
			if !s.Items.Final.Has(item) {
				rows = append(rows, Row{Kind: RowStart, Step: i, Key: d.key(i, item)})
			}
		}
	}
	return rows
}

// row is that of a step; not ready where its message is to be asked for once more.
func (d *decider) row(i int) (row Row, ready bool) {
	step, s := d.step(i), &d.s.Steps[i]
	row = Row{Kind: RowFinal, Step: i, Key: d.key(i, wf.Whole), Status: s.Fate.Status(), Reason: s.Fate.Reason()}
	switch {
	case s.Fate == wf.FateLive && s.Items != nil:
		row.Kind = RowMap
	case s.Fate == wf.FateLive:
		row.Kind, row.Until = RowStart, d.until(step)
	case s.Items != nil:
		row.Kind = RowFinish
		if s.Fate == wf.FateCancelled && d.s.Phase == wf.PhaseCancelling {
			row.Reason = entity.ReasonRunCancelled
			if d.s.Cause == wf.CauseStopped {
				row.Reason = entity.ReasonRunStopped
			}
		}
	case s.Fate == wf.FateInvalid:
		// The state does not keep the message; the same question has the same answer.
		v, answered := d.in.Values[i]
		if !answered {
			d.ask(Ask{Step: i, When: step.When != "", Items: step.ForEach != nil})
			return row, false
		}
		if row.Message = v.Wrong; row.Message == "" && step.ForEach != nil {
			row.Message = wrongItems(step, v)
		}
	}
	return row, true
}

func (d *decider) until(step *wf.Step) time.Time {
	seconds := 0
	switch {
	case step.Approval != nil:
		seconds = step.Limit()
	case step.Wait != nil:
		seconds = step.Wait.ForSec
	}
	if seconds == 0 {
		return time.Time{}
	}
	return d.in.Now.Add(time.Duration(seconds) * time.Second)
}

// Take gives the first rows, at most so many, and the state to be stored with them. Rows that are left out stay owed,
// and the next decision lists them.
func (d *Decision) Take(most int) (rows []Row, state *wf.State) {
	state = d.State.Clone()
	rows = d.Rows[:min(most, len(d.Rows))]
	for _, row := range rows {
		s := &state.Steps[row.Step]
		if row.Key.Item == wf.Whole {
			s.Owed = false
		} else {
			s.Items.Inserted = row.Key.Item + 1
		}
	}
	return rows, state
}

// Closes reports whether the run can be closed once these rows are stored.
func (d *Decision) Closes(rows []Row) bool { return d.Close != nil && len(rows) == len(d.Rows) }

// Resolve decides, and answers what the decision asks, until nothing is left to ask. It reads outside of a transaction.
func Resolve(g *Graph, state *wf.State, in Input, evaluate func(after *wf.State, asks []Ask) (map[int]Value, error)) (
	Decision, error,
) {
	values := map[int]Value{}
	for i, v := range in.Values {
		values[i] = v
	}
	in.Values = values
	for {
		d := Decide(g, state, in)
		if len(d.Asks) == 0 {
			return d, nil
		}
		answers, err := evaluate(d.State, d.Asks)
		if err != nil {
			return Decision{}, err
		}
		for _, a := range d.Asks {
			v, answered := answers[a.Step]
			if !answered {
				v.Wrong = "its condition or its list was not evaluated"
			}
			values[a.Step] = v
		}
	}
}
