package overlap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	start := overlap.Decision{Action: overlap.Start}
	queue := overlap.Decision{Action: overlap.Queue}
	discarded := overlap.Decision{Action: overlap.Skip, Reason: entity.ReasonOverlap}
	full := overlap.Decision{Action: overlap.Skip, Reason: entity.ReasonQueueFull}
	const parallel, serial, discard, replace = entity.OverlapParallel, entity.OverlapSerial, entity.OverlapDiscard,
		entity.OverlapReplace

	for _, c := range []struct {
		name             string
		policy           entity.OverlapPolicy
		limit, maxQueued int
		active, queued   int
		want             overlap.Decision
	}{
		{"parallel without a limit", parallel, 0, 0, 3, 0, start},
		{"parallel whose limit was lifted", parallel, 0, 0, 1, 1, start},
		{"parallel, room", parallel, 3, 0, 2, 0, start},
		{"parallel, no room", parallel, 3, 1, 3, 0, queue},
		{"parallel, no room and no queue", parallel, 3, 0, 3, 0, full},
		{"parallel, queue full", parallel, 2, 2, 2, 2, full},
		{"parallel, a negative queue", parallel, 1, -1, 1, 0, full},
		{"parallel, room but others wait", parallel, 3, 5, 1, 1, queue},
		{"no policy is parallel", "", 0, 0, 1, 0, start},

		{"serial, idle", serial, 0, 5, 0, 0, start},
		{"serial, one runs", serial, 0, 5, 1, 0, queue},
		{"serial, queue full", serial, 0, 2, 1, 2, full},
		{"serial with a limit", serial, 2, 5, 1, 0, start},
		{"serial never overtakes", serial, 1, 5, 0, 1, queue},

		{"discard, idle", discard, 0, 5, 0, 0, start},
		{"discard, one runs", discard, 0, 5, 1, 0, discarded},
		{"discard, below the limit", discard, 2, 5, 1, 0, start},
		{"discard, at the limit", discard, 2, 5, 2, 0, discarded},
		{"discard, waiters of a former policy", discard, 1, 5, 0, 1, discarded},

		{"replace, idle", replace, 0, 0, 0, 0, start},
		{
			"replace the one that runs", replace, 0, 0, 1, 0,
			overlap.Decision{Action: overlap.Queue, Replace: 1},
		},
		{
			"replace again before the first has ended", replace, 0, 0, 1, 1,
			overlap.Decision{Action: overlap.Queue, Replace: 1, Supersede: true},
		},
		{
			"replace the oldest of three", replace, 3, 0, 3, 0,
			overlap.Decision{Action: overlap.Queue, Replace: 1},
		},
		{
			"replace after the limit was lowered", replace, 1, 0, 3, 0,
			overlap.Decision{Action: overlap.Queue, Replace: 3},
		},
		{
			"replace, room and a forgotten waiter", replace, 2, 0, 1, 1,
			overlap.Decision{Action: overlap.Start, Supersede: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, overlap.Admit(c.policy, c.limit, c.maxQueued, c.active, c.queued))
			idle := c.want.Action == overlap.Start && !c.want.Supersede
			require.Equal(t, idle, overlap.Free(c.policy, c.limit, c.active, c.queued))
		})
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                      string
		limit, active, most, want int
	}{
		{"none", 1, 1, 500, 0},
		{"one", 1, 0, 500, 1},
		{"as many as the limit leaves", 3, 1, 500, 2},
		{"no more than asked for", 900, 1, 500, 500},
		{"no limit any more", 0, 7, 500, 500},
		{"limit lowered", 1, 2, 500, 0},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, overlap.FreeSlots(c.limit, c.active, c.most)) })
	}
}
