package follow

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// No more lists are held than the bound, however many maps run, and an error is not held.
func TestListsAreBounded(t *testing.T) {
	var l lists
	reads := 0
	for i := range 3 * maxLists {
		of, refused := mapOf{fmt.Sprint(i), "each"}, errors.New("away")
		_, err := l.get(t.Context(), of, func() (source, error) { return source{}, refused })
		require.ErrorIs(t, err, refused)
		for range 3 {
			found, err := l.get(t.Context(), of, func() (source, error) {
				reads++
				return source{params: of.run}, nil
			})
			require.NoError(t, err)
			require.Equal(t, of.run, found.params)
		}
		require.LessOrEqual(t, len(l.known), maxLists)
	}
	require.Equal(t, 3*maxLists, reads)
}
