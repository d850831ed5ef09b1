package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a target may ask for: a year, as a worker may report of it. The caller that waits has a
// bound of its own.
const maxRetryAfter = 366 * 24 * time.Hour

// RetryAfter returns how long the target asks not to be called, or 0 when it does not ask (RFC
// 9110, 10.2.3). Only answers that mean "later" count. A date counts from the target's own
// clock, which its Date header tells; without one, from the moment at which the answer was
// received, where that is known.
func RetryAfter(r *http.Response, received time.Time) time.Duration {
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestEntityTooLarge:
	default:
		return 0
	}
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseUint(value, 10, 31)
		if err != nil { // more than any bound
			return maxRetryAfter
		}
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		received = sent
	}
	if received.IsZero() {
		return 0
	}
	return min(max(at.Sub(received), 0), maxRetryAfter)
}
