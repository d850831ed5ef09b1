package hosts

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A call beyond the bound of its host waits until another one leaves.
func TestACallBeyondTheBoundOfAHostWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPermits(2)
		var inside []*visit
		for range 2 {
			v, err := h.enter(t.Context(), "slow")
			require.NoError(t, err)
			inside = append(inside, v)
		}
		entered := make(chan *visit, 1)
		go func() {
			v, err := h.enter(t.Context(), "slow")
			if err != nil {
				t.Error(err)
			}
			entered <- v
		}()
		synctest.Wait()
		require.Empty(t, entered)
		inside[0].leave()
		third := <-entered
		third.leave()
		inside[1].leave()
		require.Empty(t, h.known, "a host that nobody calls is forgotten")
	})
}
