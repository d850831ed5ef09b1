package follow

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A map stays within its bound, and keeps most of its entries.
func TestOneTenthIsForgotten(t *testing.T) {
	const most = 1000
	kept, held := map[int]int{}, 0
	for key := range 5 * most {
		held = forget(kept, held, most, func(size int) int { return size })
		kept[key] = 1 + key%3
		held += kept[key]
		sum := 0
		for _, size := range kept {
			sum += size
		}
		require.Equal(t, sum, held)
		require.LessOrEqual(t, held, most+2)
		if key > most {
			require.GreaterOrEqual(t, held, most-most/10-3)
		}
	}
}
