package notifying

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// A channel that takes over two seconds gets two messages at once, until it is fast again.
func TestASlowChannelGetsFewAtOnce(t *testing.T) {
	g := newGates()
	at := func(id string) alert.Notification {
		return alert.Notification{ID: id, ChannelID: "c", ChannelGroup: "ga"}
	}
	most := func(now time.Duration) (n int) {
		ids := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}
		for _, id := range ids {
			if g.enter(at(id), now) {
				n++
			}
		}
		return n
	}
	end := func(n int, now time.Duration) (slower, faster bool) {
		for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"}[:n] {
			s, f := g.leave(at(id), now)
			slower, faster = slower || s, faster || f
		}
		return slower, faster
	}
	require.Equal(t, 8, most(0))
	slower, _ := end(8, 3*time.Second)
	require.True(t, slower)
	require.Contains(t, g.trouble(), "at once: 1")
	now := 10 * time.Second
	for {
		require.Equal(t, 2, most(now))
		if _, faster := end(2, now+time.Millisecond); faster {
			break
		}
		now += time.Second
	}
	require.Equal(t, 8, most(now))
	require.Empty(t, g.trouble())
	require.Empty(t, g.ofGroup["other"])
}
