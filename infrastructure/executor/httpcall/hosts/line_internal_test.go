package hosts

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// room is a node's room for attempts without a slot.
type room struct {
	mu      sync.Mutex
	free    int
	closing chan struct{}
}

func (r *room) Park(string) (entity.Parked, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free--
	return r, r.free >= 0
}

func (r *room) Closing() <-chan struct{} { return r.closing }

func (r *room) Resume(context.Context) error { return nil }

func runDue(due time.Time, parking entity.Parking) entity.Run {
	return entity.Run{Execution: &entity.Execution{DueTime: due}, Parking: parking}
}

// 2,000 runs of one moment, and of the next ones, at a host with 16 places: each starts
// when a place is free, in the order of due times, and none is turned away.
func TestRunsOfABusyHostStartInOrderWhenAPlaceIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, places, took = 2000, 16, 10 * time.Millisecond
		h := New(clock.NewSystem(), Settings{PerHost: places})
		node := &room{free: runs, closing: make(chan struct{})}
		began, inside, most := time.Now(), 0, 0
		var mu sync.Mutex
		starts := map[time.Duration][]time.Time{} // by when
		var all sync.WaitGroup
		for i := range runs { // those due last come first
			due := began.Add(time.Duration(runs-i) / 100 * time.Second)
			all.Go(func() {
				r, err := h.Reserve(t.Context(), Target{Origin: "one"}, runDue(due, node), &executortest.Recorder{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				at := time.Since(began)
				starts[at] = append(starts[at], due)
				inside++
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(took)
				mu.Lock()
				inside--
				mu.Unlock()
				r.Free()
			})
			synctest.Wait()
		}
		all.Wait()
		require.Equal(t, places, most)
		require.Equal(t, took*runs/places, time.Since(began), "no place is idle while somebody waits")
		require.Len(t, starts, runs/places)
		for at := took; at < took*runs/places-took; at += took {
			last, next := slices.MaxFunc(starts[at], time.Time.Compare), slices.MinFunc(starts[at+took], time.Time.Compare)
			require.False(t, next.Before(last), "a run began at %s before one that was due earlier", at)
		}
		require.Empty(t, h.permits.known)
	})
}

// A call that cannot wait without a slot is turned away beyond a few, and one that waits leaves
// the line when its node closes, when it is cancelled or when it has waited long.
func TestWhoLeavesTheLineOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(clock.NewSystem(), Settings{PerHost: 4})
		reserve := func(ctx context.Context, parking entity.Parking) <-chan error {
			out := make(chan error, 1)
			go func() {
				_, err := h.Reserve(ctx, Target{Origin: "one"}, runDue(time.Now(), parking), &executortest.Recorder{})
				out <- err
			}()
			synctest.Wait()
			return out
		}
		for range 4 {
			require.NoError(t, <-reserve(t.Context(), nil))
		}
		waits := reserve(t.Context(), nil)
		require.ErrorIs(t, <-reserve(t.Context(), nil), ErrBusy, "one may wait with a slot for four that call")
		began := time.Now()
		require.ErrorIs(t, <-waits, ErrBusy)
		require.Equal(t, permitWait, time.Since(began))

		node := &room{free: 3, closing: make(chan struct{})}
		cancelled, cancel := context.WithCancelCause(t.Context())
		first, second := reserve(cancelled, node), reserve(t.Context(), node)
		cancel(entity.ErrStopCancel)
		require.ErrorIs(t, <-first, entity.ErrStopCancel)
		require.Empty(t, second)
		close(node.closing)
		require.ErrorIs(t, <-second, ErrBusy)
		node.closing = make(chan struct{})
		third, began := reserve(t.Context(), node), time.Now()
		require.ErrorIs(t, <-reserve(t.Context(), node), ErrBusy, "there is no room")
		require.ErrorIs(t, <-third, ErrBusy)
		require.Equal(t, lineWait, time.Since(began))
	})
}
