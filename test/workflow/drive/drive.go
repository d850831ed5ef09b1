// Package drive carries a workflow run out as a follower does in a disturbed world: rows are stored in pieces, the
// state goes through its stored form, and ends come in batches, shuffled and doubled.
package drive

import (
	"math/rand/v2"
	"time"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	decision "github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// all is more rows than any decision makes.
const all = 1 << 20

// Run is one run under way. It is for one goroutine.
type Run struct {
	Graph      *decision.Graph
	Definition *wf.Definition
	State      *wf.State
	// Now is the time of the decisions.
	Now time.Time
	// Value is what the condition and the list of a step come to, End what an execution ends with.
	Value func(s *wf.Step) decision.Value
	End   func(key wf.Key) decision.End
	// Live are the executions that have not ended.
	Live []wf.Key
	// Closed is what the run came to; nil while it is open.
	Closed *decision.Outcome

	former []decision.End
}

// New begins a run of a definition.
func New(d *wf.Definition, now time.Time) (*Run, error) {
	g, err := decision.NewGraph(d)
	if err != nil {
		return nil, err
	}
	return &Run{Graph: g, Definition: d, State: wf.NewState(d, now), Now: now}, nil
}

// Follow decides once, and stores at most so many rows, which it hands out.
func (r *Run) Follow(in decision.Input, most int) ([]decision.Row, error) {
	in.Now = r.Now
	evaluate := func(_ *wf.State, asks []decision.Ask) (map[int]decision.Value, error) {
		values := map[int]decision.Value{}
		for _, a := range asks {
			values[a.Step] = r.Value(&r.Definition.Steps[a.Step])
		}
		return values, nil
	}
	d, err := decision.Resolve(r.Graph, r.State, in, evaluate)
	if err != nil {
		return nil, err
	}
	rows, state := d.Take(most)
	for _, row := range rows {
		if row.Kind == decision.RowStart {
			r.Live = append(r.Live, row.Key)
		}
	}
	if d.Closes(rows) && r.Closed == nil {
		r.Closed = d.Close
	}
	r.State, err = wf.Decode(state.Encode())
	return rows, err
}

// Finish ends a live execution, by its place.
func (r *Run) Finish(at int) decision.End {
	key := r.Live[at]
	r.Live = append(append([]wf.Key{}, r.Live[:at]...), r.Live[at+1:]...)
	return r.End(key)
}

// Ends finishes some live executions, and hands some of them and of former ones in again, in any order.
func (r *Run) Ends(random *rand.Rand) (ends []decision.End) {
	for len(r.Live) > 0 && random.IntN(3) > 0 {
		ends = append(ends, r.Finish(random.IntN(len(r.Live))))
	}
	fresh := len(ends)
	for range random.IntN(3) {
		if len(r.former) > 0 {
			ends = append(ends, r.former[random.IntN(len(r.former))])
		}
		if fresh > 0 {
			ends = append(ends, ends[random.IntN(fresh)])
		}
	}
	r.former = append(r.former, ends[:fresh]...)
	random.Shuffle(len(ends), func(i, k int) { ends[i], ends[k] = ends[k], ends[i] })
	return ends
}

// Most draws how many rows are stored at once: a few, or all.
func Most(random *rand.Rand) int {
	most := random.IntN(4)
	if random.IntN(2) == 0 {
		return all
	}
	return most
}
