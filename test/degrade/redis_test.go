package degrade_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// disturbed is how long each mode of Redis lasts.
const disturbed = 5 * time.Second

func TestFiresCallsAndBeatsDoNotWaitForRedis(t *testing.T) {
	needServices(t)
	for name, mode := range map[string]rig.Mode{
		"silent": rig.BlackHole, "cut": rig.Cut, "slow": rig.Slow,
		"half-open": rig.HalfOpen,
	} {
		t.Run(name, func(t *testing.T) {
			dsn, _ := behind(t)
			redis := proxy(t, redistest.Config().Addrs[0])
			n := start(t, settings(t, dsn, redis.Addr(), map[string]string{
				"engine.scanIntervalMs": "200",
				"engine.beatMs":         "1000", "engine.leaseMs": "6000",
			}))
			for i := range 20 {
				n.job(fmt.Sprint("each ", i), "200")
			}
			byHand := n.job("by hand", "")
			redis.Set(mode)
			var slowest, oldest time.Duration
			noticed, until := false, time.Now().Add(disturbed)
			for time.Now().Before(until) {
				a := n.call("POST", "/api/v1/jobs/"+byHand+"/trigger", "")
				require.Equal(t, 202, a.status, a.body)
				slowest = max(slowest, a.took)
				status, parts := n.degraded()
				require.Equal(t, 200, status, "a node without Redis is ready: %v", parts)
				noticed = noticed || slices.Contains(parts, "redis")
				oldest = max(oldest, n.beatAge())
			}
			require.Less(t, slowest, time.Second, "calls")
			require.Less(t, oldest, 2500*time.Millisecond, "beats: the others would suspect the node")
			_, p99, known := n.Metrics.Lateness()
			require.True(t, known)
			require.Less(t, p99, time.Second, "fires: a call of a silent Redis lasts a second")
			if mode == rig.BlackHole || mode == rig.Cut {
				require.True(t, noticed, "that Redis is away is shown")
				require.Contains(t, n.call("GET", "/metrics", "").body, `ps_degraded{part="redis"} 1`)
				o := n.call("GET", "/api/v1/monitor/overview", "")
				require.Contains(t, o.body, `"degradedParts":[{"part":"redis","reason":"Redis does not serve`)
				require.Contains(t, n.log.String(), "redis.addrs (PS_REDIS_ADDRS")
			}
			redis.Set(rig.Pass)
			require.Eventually(t, func() bool { _, parts := n.degraded(); return len(parts) == 0 }, within, 100*time.Millisecond)
		})
	}
}

// beatAge is the time since the node's last beat.
func (n *node) beatAge() time.Duration {
	n.t.Helper()
	nodes, now, err := n.Store.View(n.t.Context())
	require.NoError(n.t, err)
	return now.Sub(nodes[0].LastHeartbeat)
}
