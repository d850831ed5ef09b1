package executors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Two installations on one machine may call their nodes alike; neither may end
// the commands of the other as leftovers of its own.
func TestNodesOfOneIDAreToldApartOnTheirMachine(t *testing.T) {
	name := func(id, data string) string {
		got, err := nameOnMachine(config.Config{Node: config.Node{ID: id}, DataDir: data})
		require.NoError(t, err)
		return got
	}
	require.Equal(t, name("a", "/one"), name("a", "/one/"), "a later life is the same node")
	require.NotEqual(t, name("a", "/one"), name("a", "/two"))
	require.NotEqual(t, name("a", "/one"), name("b", "/one"))
	require.NotContains(t, name("a-b", "/one"), name("a", "/one")+"-", "no name begins as the folders of another")
}
