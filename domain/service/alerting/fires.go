package alerting

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Past is what is known of the fires of a job that had ended at a moment.
type Past struct {
	// Runs are the newest first.
	Runs []Run
	// Cut: there may be older ones that were not read.
	Cut bool
}

// Fires adds executions of a job up to fires, whatever their order. It keeps counters and no
// row. Not safe for concurrent use.
type Fires struct {
	horizon time.Time
	byKey   map[string]*fire
	order   []*fire
	// runs are the result, until another row is added.
	runs []Run
}

// fire is what is known of one.
type fire struct {
	run  Run
	rows int
	// total is how many executions the fire has.
	total int
	// live: one of them goes on.
	live bool
}

// NewFires knows of none. Rows dated later than the horizon are left out: they were written
// before the store's clock was set back. The zero time is no horizon.
func NewFires(horizon time.Time) *Fires { return &Fires{horizon: horizon, byKey: map[string]*fire{}} }

// Add counts a row. A skipped range, and a row that cannot be read, is no part of a fire.
func (f *Fires) Add(e *entity.Execution) {
	at := e.UpdateTime
	if at.IsZero() {
		at = e.EndTime
	}
	if e.IsRange() || e.Unreadable != "" || !f.horizon.IsZero() && at.After(f.horizon) {
		return
	}
	f.runs = nil
	key, total := e.FireKey, max(e.ShardTotal, 1)
	if e.RetryOf != "" {
		key, total = e.ID, 1 // a repetition by hand stands for itself
	}
	one := f.byKey[key]
	if one == nil {
		one = &fire{total: total}
		f.byKey[key] = one
		f.order = append(f.order, one)
	}
	one.rows++
	if !e.Status.Final() {
		one.live = true
		return
	}
	one.add(e.ID, e.Status, at)
}

// add counts a final execution. A fire fails when its first shard fails, at that moment. The later ends of other shards
// change nothing, nor does the time of the question. It has succeeded with its last shard.
func (f *fire) add(id string, status entity.Status, at time.Time) {
	failed := status.Failed()
	switch former := f.run; {
	case former.ExecutionID == "", failed && !former.Status.Failed():
		f.run = Run{ExecutionID: id, Status: status, At: at}
	case failed:
		if at.Before(former.At) {
			f.run.ExecutionID, f.run.At = id, at
		}
		f.run.Status = entity.Fold([]entity.Status{former.Status, status})
	case former.Status.Failed():
	default:
		if at.After(former.At) {
			f.run.ExecutionID, f.run.At = id, at
		}
		f.run.Status = entity.Fold([]entity.Status{former.Status, status})
	}
}

// over reports whether a fire is a run that has succeeded or failed.
func (f *fire) over() bool {
	return f.run.Status.Failed() || f.run.Status == entity.StatusSuccess && !f.live && f.rows >= f.total
}

// Runs are the fires that have succeeded or failed, the one that ended last first. Fires that go on are left out, and
// so are those of which some shards are not here. A skipped or cancelled fire is no run.
func (f *Fires) Runs() []Run {
	if f.runs != nil {
		return f.runs
	}
	f.runs = []Run{}
	for _, one := range f.order {
		if one.over() {
			f.runs = append(f.runs, one.run)
		}
	}
	slices.SortStableFunc(f.runs, func(a, b Run) int { return b.At.Compare(a.At) })
	return f.runs
}
