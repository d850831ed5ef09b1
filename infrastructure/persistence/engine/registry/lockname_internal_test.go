package registry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The names are those of nodes of former releases, which MariaDB computed:
// SELECT CONCAT('ps-', SHA1(CONCAT('scheduler', ':', 'node-1'))).
func TestTheLockOfANodesIDKeepsItsName(t *testing.T) {
	require.Equal(t, "ps-fabc3465ebf4a7e0a5704c435c77110ab0f58d19", lockName("scheduler", "node-1"))
	require.Equal(t, "ps-3c94765e818b7cedbed023f672e5171601e9235d", lockName("定时", "节点 1"))
	require.LessOrEqual(t, len(lockName("scheduler", "node-1")), 64)
}
