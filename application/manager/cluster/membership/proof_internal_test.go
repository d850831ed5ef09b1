package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// However many nodes have died: a further death is proven, and old ones are
// forgotten.
func TestOldProofsMakeRoom(t *testing.T) {
	p := proofs{found: map[string]deathSigns{}}
	dies := func(id string, now time.Duration) bool {
		n := entity.Node{ID: id, Epoch: 1}
		p.note(n, true, now)
		return p.note(n, true, now+proofGap)
	}
	for i := range maxPromises {
		require.True(t, dies(fmt.Sprint("node-", i), 0))
	}
	require.True(t, dies("one more", 0), "all at once")
	require.True(t, p.dead("one more", 1, proofGap))
	require.True(t, dies("later", time.Hour))
	require.Len(t, p.found, 1)
}
