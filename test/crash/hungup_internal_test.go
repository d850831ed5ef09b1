package crash

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The ledger tells a call whose caller had hung up before the target saw it from one whose
// caller waits.
func TestATargetSeesWhoHungUpBeforeItsCallCame(t *testing.T) {
	for name, c := range map[string]struct{ hangsUp bool }{
		"the caller waits":       {false},
		"the caller has hung up": {true},
	} {
		t.Run(name, func(t *testing.T) {
			target, err := NewTarget(filepath.Join(t.TempDir(), "calls"))
			require.NoError(t, err)
			server := target.server()
			t.Cleanup(func() {
				server.Close()
				require.NoError(t, target.Close())
			})
			target.tokens["job"] = 2
			caller, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			defer func() { _ = caller.Close() }()
			_, err = fmt.Fprint(caller, "POST /?fence HTTP/1.1\r\nHost: target\r\nX-Scheduler-Job-Id: job\r\n"+
				"X-Scheduler-Fencing-Token: 1\r\nContent-Length: 2\r\n\r\n{}")
			require.NoError(t, err)
			if c.hangsUp {
				require.NoError(t, caller.Close())
			}
			server.Start()
			var calls []history.Call
			require.Eventually(t, func() bool {
				calls = target.Calls()
				return len(calls) == 1
			}, 20*time.Second, time.Millisecond)
			require.Equal(t, history.AnswerRefused, calls[0].Answer)
			require.Equal(t, c.hangsUp, calls[0].Gone)
		})
	}
}

// A server that was not made by Serve knows no connections: everybody counts as there.
func TestWithoutAConnectionNobodyHungUp(t *testing.T) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", http.NoBody)
	require.NoError(t, err)
	require.False(t, hungUp(r))
}
