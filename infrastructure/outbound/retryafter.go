package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a target may ask for: a day.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns how long the target asks not to be called, or 0 when it does not ask (RFC
// 9110, 10.2.3). Only answers that mean "later" count. A date counts from the target's own
// clock, which its Date header tells.
func RetryAfter(r *http.Response) time.Duration {
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestEntityTooLarge:
	default:
		return 0
	}
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(at.Sub(sent), 0), maxRetryAfter)
}
