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
	"github.com/platform-scheduler/platform-scheduler/test/workflow/drive"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// run is one that is driven, with what happened to it.
type run struct {
	*drive.Run

	t testing.TB
	// would is what each key comes to if it runs; a condition that does not hold is Skipped.
	would  func(key string) check.Fate
	items  map[string]int
	events []check.Event
}

func newRun(t testing.TB, def *wf.Definition, would func(string) check.Fate, items map[string]int) *run {
	driven, err := drive.New(def, noon)
	require.NoError(t, err)
	d := &run{Run: driven, t: t, would: would, items: items}
	d.Value = func(s *wf.Step) workflow.Value {
		return workflow.Value{Holds: would(s.Name) != check.Skipped, Items: items[s.Name]}
	}
	d.End = func(key wf.Key) workflow.End {
		status := entity.StatusSuccess
		if would(key.String()) == check.Failure {
			status = entity.StatusFailed
		}
		d.events = append(d.events, check.Event{What: "END", Key: key.String(), Status: string(status)})
		return workflow.End{Key: key, Status: status}
	}
	return d
}

// follow decides once, and stores at most so many rows.
func (d *run) follow(in workflow.Input, most int) {
	stopped, closed := d.State.Phase == wf.PhaseCancelling, d.Closed != nil
	rows, err := d.Follow(in, most)
	if err != nil {
		d.t.Fatal(err)
	}
	if !stopped && d.State.Phase == wf.PhaseCancelling {
		d.events = append(d.events, check.Event{What: "STOP"})
	}
	for _, row := range rows {
		d.note(row)
	}
	if d.Closed != nil && !closed {
		d.events = append(d.events, check.Event{
			What: "CLOSE", Status: string(d.Closed.Status), Reason: string(d.Closed.Reason),
		})
		d.State = workflow.Close(d.State)
	}
}

func (d *run) note(row workflow.Row) {
	e := check.Event{Key: row.Key.String()}
	switch row.Kind {
	case workflow.RowStart:
		e.What = "START"
	case workflow.RowMap:
		e.What = "MAP"
	case workflow.RowFinal, workflow.RowFinish:
		e.What, e.Status, e.Reason = "END", string(row.Status), string(row.Reason)
	}
	d.events = append(d.events, e)
}

func (d *run) check() []string {
	return check.Check(check.Run{Definition: d.Definition, Items: d.items, Events: d.events})
}

// disturbed carries a run to its end in a disturbed world, in which it is also paused now and then. cancels: somebody
// may cancel it.
func (d *run) disturbed(r *rand.Rand, cancels bool) {
	for turn := 0; d.Closed == nil; turn++ {
		if turn > 100_000 {
			d.t.Fatal("the run does not end")
		}
		in := workflow.Input{Ends: d.Ends(r)}
		switch n := r.IntN(12); {
		case n == 0:
			in.Command = workflow.Pause
		case n < 4:
			in.Command = workflow.Resume
		case n == 4 && cancels && r.IntN(4) == 0:
			in.Command = workflow.Cancel
		}
		if d.Definition.OnStepFailure == wf.Hold && r.IntN(4) == 0 {
			d.Now = d.Now.Add(time.Hour)
		}
		d.follow(in, drive.Most(r))
	}
}

// inOrder carries a run to its end: what began first ends first, and is followed by itself.
func (d *run) inOrder() {
	for turn := 0; d.Closed == nil; turn++ {
		if turn > 10_000 {
			d.t.Fatal("the run does not end")
		}
		var in workflow.Input
		if len(d.Live) > 0 {
			in.Ends = append(in.Ends, d.Finish(0))
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
func (d *run) fates() map[string]check.Fate { return fatesOf(d.Definition, d.State) }

func fatesOf(def *wf.Definition, state *wf.State) map[string]check.Fate {
	out := map[string]check.Fate{}
	for i := range state.Steps {
		if !def.Steps[i].Finally {
			out[def.Steps[i].Name] = check.Fate(map[wf.Class]byte{
				wf.ClassSuccess: 's', wf.ClassFailure: 'f', wf.ClassBlocked: 'b', wf.ClassSkipped: 'x',
			}[state.Steps[i].Fate.Class()])
		}
	}
	return out
}
