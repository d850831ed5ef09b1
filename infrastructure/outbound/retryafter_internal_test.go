package outbound

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzRetryAfter: whatever a target answers, the wait is within its bounds.
func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Fri, 20 Nov 2026 12:00:30 GMT", "Fri, 20 Nov 2026 12:00:00 GMT")
	f.Add("99999999999999999999", "-1")
	f.Fuzz(func(t *testing.T, after, date string) {
		wait := RetryAfter(&http.Response{
			StatusCode: http.StatusTooManyRequests,
			Header:     http.Header{"Retry-After": {after}, "Date": {date}},
		}, time.Unix(0, 0))
		require.True(t, wait >= 0 && wait <= maxRetryAfter, wait)
	})
}
