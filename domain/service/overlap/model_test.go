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
	live             []entity.LiveFire
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
	w.live = slices.DeleteFunc(w.live, func(f entity.LiveFire) bool { return f.Seq == seq })
	w.ended[seq] = true
}

func (w *world) promote(t *rapid.T) {
	for _, p := range overlap.Promote(w.effectiveLimit(), w.live) {
		i := slices.IndexFunc(w.live, func(f entity.LiveFire) bool { return f.Seq == p.Seq })
		require.False(t, w.live[i].Active)
		w.live[i].Active = true
		w.started = append(w.started, p.Seq)
	}
}

func (w *world) fire(t *rapid.T) {
	w.seq++
	d := overlap.Admit(w.policy, w.limit, w.maxQueued, w.live)
	for _, f := range d.Supersede {
		require.False(t, f.Active, "only waiters are superseded")
		w.drop(f.Seq)
	}
	for _, f := range d.Replace {
		require.True(t, f.Active, "only active fires are cancelled")
	}
	if w.policy != entity.OverlapReplace {
		require.Empty(t, d.Replace)
		require.Empty(t, d.Supersede)
	}
	switch d.Verdict {
	case overlap.Start:
		w.live = append(w.live, entity.LiveFire{Seq: w.seq, Active: true})
		w.started = append(w.started, w.seq)
	case overlap.Queue:
		w.live = append(w.live, entity.LiveFire{Seq: w.seq})
	case overlap.Skip:
		require.NotEmpty(t, d.Reason)
		w.ended[w.seq] = true
	default:
		t.Fatalf("no verdict: %+v", d)
	}
}

func (w *world) check(t *rapid.T) {
	active, queued := 0, 0
	for _, f := range w.live {
		if f.Active {
			active++
		} else {
			queued++
		}
	}
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
			w.promote(t)
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

// After an edit that raises the limit the waiters start in order, and a fire
// that comes in between does not overtake them.
func TestRaisedLimit(t *testing.T) {
	live := fires(1, -2, -3)
	require.Equal(t, overlap.Queue, overlap.Admit(entity.OverlapParallel, 3, 10, live).Verdict)
	live = append(live, fires(-4)...)
	require.Equal(t, fires(-2, -3), overlap.Promote(3, live))
}
