package calls

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMixIsSeventyReadsAndThirtyWrites(t *testing.T) {
	writes := 0
	for _, k := range shares() {
		if k.write {
			writes++
		}
	}
	require.Len(t, shares(), 100)
	require.Equal(t, 30, writes)
}
