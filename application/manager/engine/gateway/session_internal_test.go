package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// A look wakes a parked poll that it has an answer for, and no other: a node may have thousands of them.
func TestALookWakesPollsWithAnAnswerAlone(t *testing.T) {
	lost := delivery.Attempt{Execution: "e1", Token: 1}
	for name, c := range map[string]struct {
		running []delivery.Attempt
		wakes   bool
	}{
		"nothing is held":                  {nil, false},
		"what the worker runs is not held": {[]delivery.Attempt{lost}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession("@shop.a", 1, 0)
			s.known = true
			s.delivery.Poll(delivery.Poll{Epoch: 1, Seq: 1, Running: c.running}, 0)
			parked := s.changed
			require.NoError(t, (&Gateway{}).hold(t.Context(), s, 1, nil, time.Second))
			require.False(t, s.delivery.Unread(), "the read counts all the same")
			select {
			case <-parked:
				require.True(t, c.wakes)
			default:
				require.False(t, c.wakes)
			}
		})
	}
}
