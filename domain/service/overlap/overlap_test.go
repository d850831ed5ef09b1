package overlap_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// fires builds live fires: a positive number is an active fire with that Seq,
// a negative one a queued fire.
func fires(seqs ...int64) []entity.LiveFire {
	var live []entity.LiveFire
	for _, s := range seqs {
		live = append(live, entity.LiveFire{JobID: "j", Active: s > 0, Seq: max(s, -s), Remaining: 1})
	}
	return live
}

func TestAdmit(t *testing.T) {
	start := overlap.Decision{Verdict: overlap.Start}
	queue := overlap.Decision{Verdict: overlap.Queue}
	discarded := overlap.Decision{Verdict: overlap.Skip, Reason: entity.ReasonOverlap}
	full := overlap.Decision{Verdict: overlap.Skip, Reason: entity.ReasonQueueFull}
	const parallel, serial, discard, replace = entity.OverlapParallel, entity.OverlapSerial, entity.OverlapDiscard, entity.OverlapReplace

	for _, c := range []struct {
		name             string
		policy           entity.OverlapPolicy
		limit, maxQueued int
		live             []entity.LiveFire
		want             overlap.Decision
	}{
		{"parallel without a limit", parallel, 0, 0, fires(1, 2, 3), start},
		{"parallel whose limit was lifted", parallel, 0, 0, fires(1, -2), start},
		{"parallel, room", parallel, 3, 0, fires(1, 2), start},
		{"parallel, no room", parallel, 3, 1, fires(1, 2, 3), queue},
		{"parallel, no room and no queue", parallel, 3, 0, fires(1, 2, 3), full},
		{"parallel, queue full", parallel, 2, 2, fires(1, 2, -3, -4), full},
		{"parallel, a negative queue", parallel, 1, -1, fires(1), full},
		{"parallel, room but others wait", parallel, 3, 5, fires(1, -2), queue},
		{"no policy is parallel", "", 0, 0, fires(1), start},

		{"serial, idle", serial, 0, 5, nil, start},
		{"serial, one runs", serial, 0, 5, fires(1), queue},
		{"serial, queue full", serial, 0, 2, fires(1, -2, -3), full},
		{"serial with a limit", serial, 2, 5, fires(1), start},
		{"serial never overtakes", serial, 1, 5, fires(-1), queue},

		{"discard, idle", discard, 0, 5, nil, start},
		{"discard, one runs", discard, 0, 5, fires(1), discarded},
		{"discard, below the limit", discard, 2, 5, fires(1), start},
		{"discard, at the limit", discard, 2, 5, fires(1, 2), discarded},
		{"discard, waiters of a former policy", discard, 1, 5, fires(-1), discarded},

		{"replace, idle", replace, 0, 0, nil, start},
		{
			"replace the one that runs", replace, 0, 0, fires(1),
			overlap.Decision{Verdict: overlap.Queue, Replace: fires(1)},
		},
		{
			"replace again before the first has ended", replace, 0, 0, fires(1, -2),
			overlap.Decision{Verdict: overlap.Queue, Replace: fires(1), Supersede: fires(-2)},
		},
		{
			"replace the oldest of three", replace, 3, 0, fires(7, 3, 5),
			overlap.Decision{Verdict: overlap.Queue, Replace: fires(3)},
		},
		{
			"replace after the limit was lowered", replace, 1, 0, fires(3, 2, 1),
			overlap.Decision{Verdict: overlap.Queue, Replace: fires(1, 2, 3)},
		},
		{
			"replace, room and a forgotten waiter", replace, 2, 0, fires(1, -2),
			overlap.Decision{Verdict: overlap.Start, Supersede: fires(-2)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.live)
			require.Equal(t, c.want, overlap.Admit(c.policy, c.limit, c.maxQueued, c.live))
			require.Equal(t, before, c.live, "the caller's fires are not reordered")
			idle := c.want.Verdict == overlap.Start && c.want.Supersede == nil
			require.Equal(t, idle, overlap.Free(c.policy, c.limit, c.live))
		})
	}
}

func TestPromote(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		live  []entity.LiveFire
		want  []entity.LiveFire
	}{
		{"nobody waits", 1, fires(1), nil},
		{"no room", 1, fires(1, -2), nil},
		{"the oldest goes first", 1, fires(-5, -3, -4), fires(-3)},
		{"as many as there is room for", 3, fires(1, -5, -3, -4), fires(-3, -4)},
		{"more room than waiters", 9, fires(1, -2), fires(-2)},
		{"no limit any more", 0, fires(1, -4, -3), fires(-3, -4)},
		{"limit lowered", 1, fires(1, 2, -3), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, len(c.want), len(overlap.Promote(c.limit, c.live)))
			for i, f := range overlap.Promote(c.limit, c.live) {
				require.Equal(t, c.want[i], f)
			}
		})
	}
}
