package request

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// A dry run without its span names both ends, the first one first, each time: a map would give them in any order.
func TestADryRunNamesItsEndsInOrder(t *testing.T) {
	for range 20 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
			strings.NewReader(`{"rule":{"name":"n","level":"INFO","type":"JOB_FAILED"}}`))
		r.Header.Set("Content-Type", "application/json")
		_, err := ReadDryRun(r)
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid)
		require.Len(t, invalid.Fields, 2)
		require.Equal(t, []string{"from", "to"}, []string{invalid.Fields[0].Field, invalid.Fields[1].Field})
	}
}
