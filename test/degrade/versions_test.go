package degrade_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

func TestANodeOfAnotherVersionIsShown(t *testing.T) {
	needServices(t)
	dsn, _ := behind(t)
	n := start(t, settings(t, dsn, strings.Join(redistest.Config().Addrs, ","), nil))
	_, err := n.Store.Register(t.Context(), entity.Node{ID: "node-2", Version: "9.9.9", Roles: []string{entity.RoleAPI}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.Contains(n.call("GET", "/api/v1/monitor/overview", "").body,
			`{"part":"versions","reason":"the nodes run different versions: 9.9.9 on node-2, `)
	}, within, 50*time.Millisecond)
	require.Contains(t, n.call("GET", "/api/v1/nodes", "").body, `"version":"9.9.9"`)
	status, parts := n.degraded()
	require.Equal(t, 200, status)
	require.Contains(t, parts, "versions")
}
