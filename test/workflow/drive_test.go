package workflow_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	check "github.com/platform-scheduler/platform-scheduler/test/workflow"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// drive carries a run out as a follower does: it stores rows in pieces, and hands ends in as a disturbed world does.
type drive struct {
	t     testing.TB
	g     *workflow.Graph
	def   *wf.Definition
	state *wf.State
	now   time.Time
	// would is what each key comes to if it runs; a condition that does not hold is Skipped.
	would func(key string) check.Fate
	items map[string]int

	live   []string
	rows   map[string]workflow.Row
	events []check.Event
	last   workflow.Decision
	closed bool
}

func newDrive(t testing.TB, def *wf.Definition, would func(string) check.Fate, items map[string]int) *drive {
	g, err := workflow.NewGraph(def)
	require.NoError(t, err)
	return &drive{
		t: t, g: g, def: def, state: wf.NewState(def, noon), now: noon, would: would, items: items,
		rows: map[string]workflow.Row{},
	}
}

// follow decides once, and stores at most so many rows. It goes through the stored form of the state.
func (d *drive) follow(in workflow.Input, most int) {
	in.Now = d.now
	stopped := d.state.Phase == wf.PhaseCancelling
	evaluate := func(_ *wf.State, asks []workflow.Ask) (map[int]workflow.Value, error) {
		values := map[int]workflow.Value{}
		for _, a := range asks {
			name := d.def.Steps[a.Step].Name
			values[a.Step] = workflow.Value{Holds: d.would(name) != check.Skipped, Items: d.items[name]}
		}
		return values, nil
	}
	decision, err := workflow.Resolve(d.g, d.state, in, evaluate)
	if err != nil {
		d.t.Fatal(err)
	}
	rows, state := decision.Take(most)
	if !stopped && state.Phase == wf.PhaseCancelling {
		d.events = append(d.events, check.Event{What: "STOP"})
	}
	for _, row := range rows {
		d.store(row)
	}
	stored, err := wf.Decode(state.Encode())
	if err != nil {
		d.t.Fatal(err)
	}
	d.state, d.last = stored, decision
	if decision.Closes(rows) && !d.closed {
		d.closed = true
		o := decision.Close
		d.events = append(d.events, check.Event{What: "CLOSE", Status: string(o.Status), Reason: string(o.Reason)})
		d.state = workflow.Close(d.state)
	}
}

func (d *drive) store(row workflow.Row) {
	key := row.Key.String()
	switch row.Kind {
	case workflow.RowStart:
		d.events = append(d.events, check.Event{What: "START", Key: key})
		d.live = append(d.live, key)
		d.rows[key] = row
	case workflow.RowMap:
		d.events = append(d.events, check.Event{What: "MAP", Key: key})
	case workflow.RowFinal, workflow.RowFinish:
		d.events = append(d.events, check.Event{
			What: "END", Key: key, Status: string(row.Status), Reason: string(row.Reason),
		})
	}
}

// finish ends a live execution with what it comes to.
func (d *drive) finish(at int) workflow.End {
	key := d.live[at]
	d.live = append(append([]string{}, d.live[:at]...), d.live[at+1:]...)
	status := entity.StatusSuccess
	if d.would(key) == check.Failure {
		status = entity.StatusFailed
	}
	return d.ended(key, status)
}

func (d *drive) ended(key string, status entity.Status) workflow.End {
	d.events = append(d.events, check.Event{What: "END", Key: key, Status: string(status)})
	return workflow.End{Key: d.rows[key].Key, Status: status}
}

func (d *drive) check() []string {
	return check.Check(check.Run{Definition: d.def, Items: d.items, Events: d.events})
}

// disturbed carries a run to its end: ends come in batches, shuffled and doubled, rows are stored in pieces, and the
// run is paused now and then. cancels: somebody may cancel it.
func (d *drive) disturbed(r *rand.Rand, cancels bool) {
	var former []workflow.End
	for turn := 0; !d.closed; turn++ {
		if turn > 100_000 {
			d.t.Fatal("the run does not end")
		}
		var in workflow.Input
		for len(d.live) > 0 && r.IntN(3) > 0 {
			in.Ends = append(in.Ends, d.finish(r.IntN(len(d.live))))
		}
		batch := len(in.Ends)
		for range r.IntN(3) {
			if len(former) > 0 {
				in.Ends = append(in.Ends, former[r.IntN(len(former))])
			}
			if batch > 0 {
				in.Ends = append(in.Ends, in.Ends[r.IntN(batch)])
			}
		}
		former = append(former, in.Ends[:batch]...)
		r.Shuffle(len(in.Ends), func(i, k int) { in.Ends[i], in.Ends[k] = in.Ends[k], in.Ends[i] })
		switch n := r.IntN(12); {
		case n == 0:
			in.Command = workflow.Pause
		case n < 4:
			in.Command = workflow.Resume
		case n == 4 && cancels && r.IntN(4) == 0:
			in.Command = workflow.Cancel
		}
		if d.def.OnStepFailure == wf.Hold && r.IntN(4) == 0 {
			d.now = d.now.Add(time.Hour)
		}
		most := r.IntN(4)
		if r.IntN(2) == 0 {
			most = 1000
		}
		d.follow(in, most)
	}
}

// inOrder carries a run to its end: what began first ends first, and is followed by itself.
func (d *drive) inOrder() {
	for turn := 0; !d.closed; turn++ {
		if turn > 10_000 {
			d.t.Fatal("the run does not end")
		}
		var in workflow.Input
		if len(d.live) > 0 {
			in.Ends = append(in.Ends, d.finish(0))
		}
		d.follow(in, 1000)
	}
}

func name(i int) string { return "s" + strconv.Itoa(i) }

func reduced(fates map[string]check.Fate) (out string) {
	for i := range len(fates) + 3 {
		if f, is := fates[name(i)]; is {
			out += string(f)
		}
	}
	return out
}

// fates are those of the steps that the run stored.
func (d *drive) fates() map[string]check.Fate {
	out := map[string]check.Fate{}
	for i := range d.state.Steps {
		if !d.def.Steps[i].Finally {
			out[d.def.Steps[i].Name] = check.Fate(map[wf.Class]byte{
				wf.ClassSuccess: 's', wf.ClassFailure: 'f', wf.ClassBlocked: 'b', wf.ClassSkipped: 'x',
			}[d.state.Steps[i].Fate.Class()])
		}
	}
	return out
}
