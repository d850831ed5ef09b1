package overlap_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// world plays the part of the store: it applies decisions and remembers what
// became of every fire.
type world struct {
	policy           entity.OverlapPolicy
	limit, maxQueued int
	seq              int64
	live             []entity.InFlightFire
	started          []int64
	ended            map[int64]bool
}

func (w *world) effectiveLimit() int {
	if w.limit == 0 && w.policy != entity.OverlapParallel {
		return 1
	}
	return w.limit
}

func (w *world) drop(seq int64) {
	w.live = slices.DeleteFunc(w.live, func(f entity.InFlightFire) bool { return f.Seq == seq })
	w.ended[seq] = true
}

// counts are the numbers of active and queued fires.
func (w *world) counts() (active, queued int) {
	for _, f := range w.live {
		if f.Active {
			active++
		} else {
			queued++
		}
	}
	return active, queued
}

// oldest are the first n fires that are active, or that are not.
func (w *world) oldest(isActive bool, n int) []entity.InFlightFire {
	var out []entity.InFlightFire
	for _, f := range w.live { // in the order of their Seq
		if f.Active == isActive && len(out) < n {
			out = append(out, f)
		}
	}
	return out
}

func (w *world) promote() {
	active, _ := w.counts()
	for _, p := range w.oldest(false, overlap.FreeSlots(w.effectiveLimit(), active, 100)) {
		i := slices.IndexFunc(w.live, func(f entity.InFlightFire) bool { return f.Seq == p.Seq })
		w.live[i].Active = true
		w.started = append(w.started, p.Seq)
	}
}

func (w *world) fire(t *rapid.T) {
	w.seq++
	active, queued := w.counts()
	d := overlap.Admit(w.policy, w.limit, w.maxQueued, active, queued)
	require.LessOrEqual(t, d.Replace, active)
	if w.policy != entity.OverlapReplace {
		require.Zero(t, d.Replace)
		require.False(t, d.Supersede)
	}
	if d.Supersede {
		require.NotZero(t, queued)
		for _, f := range w.oldest(false, queued) {
			w.drop(f.Seq)
		}
	}
	switch d.Action {
	case overlap.Start:
		w.live = append(w.live, entity.InFlightFire{Seq: w.seq, Active: true})
		w.started = append(w.started, w.seq)
	case overlap.Queue:
		w.live = append(w.live, entity.InFlightFire{Seq: w.seq})
	case overlap.Skip:
		require.NotEmpty(t, d.Reason)
		w.ended[w.seq] = true
	default:
		t.Fatalf("no verdict: %+v", d)
	}
}

func (w *world) check(t *rapid.T) {
	active, queued := w.counts()
	limit := w.effectiveLimit()
	if limit > 0 {
		require.LessOrEqual(t, active, limit)
	}
	if queued > 0 {
		require.Equal(t, limit, active, "nobody waits while a place is free")
	}
	switch w.policy {
	case entity.OverlapDiscard:
		require.Zero(t, queued)
	case entity.OverlapReplace:
		require.LessOrEqual(t, queued, 1)
	default:
		require.LessOrEqual(t, queued, w.maxQueued)
	}
	require.True(t, slices.IsSorted(w.started), "fires start in their order: %v", w.started)
	require.EqualValues(t, w.seq, len(w.live)+len(w.ended), "every fire is live or ended")
}

func TestFiresKeepLimitAndOrderAndNobodyStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			policy: rapid.SampledFrom([]entity.OverlapPolicy{
				entity.OverlapParallel, entity.OverlapSerial, entity.OverlapDiscard, entity.OverlapReplace,
			}).Draw(t, "policy"),
			limit:     rapid.IntRange(0, 4).Draw(t, "limit"),
			maxQueued: rapid.IntRange(0, 5).Draw(t, "maxQueued"),
			ended:     map[int64]bool{},
		}
		end := func(t *rapid.T) {
			var active []int64
			for _, f := range w.live {
				if f.Active {
					active = append(active, f.Seq)
				}
			}
			if len(active) == 0 {
				return
			}
			w.drop(rapid.SampledFrom(active).Draw(t, "ends"))
			w.promote()
		}
		t.Repeat(map[string]func(*rapid.T){
			"fire": w.fire,
			"end":  end,
			"":     w.check,
		})
		for len(w.live) > 0 {
			before := len(w.live)
			end(t)
			require.Less(t, len(w.live), before, "the waiters starve: %v", w.live)
		}
	})
}

// After an edit that raises the limit a fire that comes in between does not
// overtake those that wait.
func TestRaisedLimit(t *testing.T) {
	t.Parallel()
	require.Equal(t, overlap.Queue, overlap.Admit(entity.OverlapParallel, 3, 10, 1, 2).Action)
	require.Equal(t, 2, overlap.FreeSlots(3, 1, 100))
}
