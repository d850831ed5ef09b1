package spelling_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

func TestTheNearestWordIsWhatWasMeant(t *testing.T) {
	t.Parallel()
	known := []string{"apply", "backfill", "delete", "export", "get", "list", "pause", "resume", "trigger"}
	for typed, meant := range map[string]string{
		"aply": "apply", "appyl": "apply", "APPLY": "apply", "backfil": "backfill", "trigegr": "trigger", "lst": "list",
		"gte": "get",
		"":    "", "x": "", "zebra": "", "applyapply": "", strings.Repeat("apply", 100): "",
	} {
		require.Equal(t, meant, spelling.Nearest(typed, known), typed)
	}
	require.Empty(t, spelling.Nearest("apply", nil))
}
