package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node id must fit the columns and, with its marks, the key of its queue.
func TestNodeIDsFit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("h", 300)
	for host, want := range map[string]string{
		"host-1":      "host-1-8080",
		"a b/ü":       "a-b---8080",
		long:          strings.Repeat("h", 44) + "-8080",
		"under_s.com": "under_s.com-8080",
	} {
		id := nodeID(host, "8080")
		require.Equal(t, want, id)
		require.LessOrEqual(t, len(id), nodeIDLimit)
	}
	for id, ok := range map[string]bool{
		strings.Repeat("n", 49): true, strings.Repeat("n", 50): false, "a~b": false,
		"a!b": false, "*": false,
	} {
		_, _, err := Load(Options{Flags: map[string]string{"node.id": id}})
		require.Equal(t, ok, err == nil, "%s: %v", id, err)
	}
}
