package sqldb

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestLanesServeTheMostUrgentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l laneLock
		require.NoError(t, l.lock(t.Context(), repository.LaneLogs))
		var order []string
		for i, lane := range []repository.Lane{
			repository.LaneRetention, repository.LaneLogs, repository.LaneAPI,
			repository.LaneFire, repository.LaneFire, repository.LaneComplete,
		} {
			go func() {
				if l.lock(context.Background(), lane) == nil {
					order = append(order, fmt.Sprintf("%d:%d", lane, i))
					l.unlock()
				}
			}()
			synctest.Wait()
		}
		l.unlock()
		synctest.Wait()
		require.Equal(t, []string{"0:3", "0:4", "1:5", "2:2", "3:1", "4:0"}, order)
		require.NoError(t, l.lock(t.Context(), repository.LaneRetention), "it is free again")
	})
}

// A lane that was passed over three times goes first once. Then it waits like before.
func TestALaneThatWasPassedOverGoesFirstOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l laneLock
		require.NoError(t, l.lock(t.Context(), repository.LaneFire))
		var order []repository.Lane
		const fire, retention = repository.LaneFire, repository.LaneRetention
		for _, lane := range []repository.Lane{retention, retention, fire, fire, fire, fire, fire} {
			go func() {
				if l.lock(context.Background(), lane) == nil {
					order = append(order, lane)
					l.unlock()
				}
			}()
			synctest.Wait()
		}
		l.unlock()
		synctest.Wait()
		require.Equal(t, []repository.Lane{fire, fire, fire, retention, fire, fire, retention}, order)
	})
}

func TestAWaiterThatGivesUpPassesItsTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l laneLock
		require.NoError(t, l.lock(t.Context(), repository.LaneFire))
		ctx, cancel := context.WithCancel(t.Context())
		gone, served := make(chan error, 1), make(chan error, 1)
		go func() { gone <- l.lock(ctx, repository.LaneFire) }()
		synctest.Wait()
		go func() { served <- l.lock(t.Context(), repository.LaneLogs) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		l.unlock()
		require.NoError(t, <-served)
		// The turn that comes while the waiter leaves is not lost.
		turn := make(chan struct{})
		l.waiting[repository.LaneFire] = append(l.waiting[repository.LaneFire], turn)
		l.unlock()
		<-turn
		l.leave(repository.LaneFire, turn)
		require.NoError(t, l.lock(t.Context(), repository.LaneAPI))
		require.ErrorIs(t, l.lock(ctx, repository.LaneFire), context.Canceled)
	})
}
