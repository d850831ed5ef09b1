package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A change after a silence is told at once, also the last one of many. A list that changes all the
// time is told of with every third look, and nothing of it is lost. Objects wait for nothing.
func TestABusyListIsToldOfWithEveryThirdLook(t *testing.T) {
	p := newPace()
	look := func(groups ...string) (told []string) {
		found := newChanges()
		for _, group := range groups {
			found.list(Executions, group)
			found.object(ExecutionPrefix + group)
		}
		p.of(found)
		require.Len(t, found.objects, len(groups))
		for _, group := range []string{"a", "b", "c"} {
			if found.concerns(Executions, []string{group}) {
				told = append(told, group)
			}
		}
		return told
	}
	require.Equal(t, []string{"a"}, look("a"))
	require.Empty(t, look("b"))
	require.Empty(t, look("c"))
	require.Equal(t, []string{"a", "b", "c"}, look("a"))
	require.Empty(t, look("b"))
	require.Empty(t, look())
	require.Equal(t, []string{"b"}, look(), "the last change is told without another")
	for range 5 {
		require.Empty(t, look())
	}
	require.Equal(t, []string{"c"}, look("c"), "after a silence at once")
	require.Empty(t, p.held)
}
