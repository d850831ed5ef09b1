package httpcall_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// The wait that a target asks for is read as RFC 9110, 10.2.3, says: delay-seconds or an HTTP-date in one of its three
// forms (5.6.7). It is a wish: the retry policy bounds it.
func TestATargetMayAskForAWait(t *testing.T) {
	const sent = "Date: Fri, 31 Dec 1999 23:57:59 GMT\n"
	for name, c := range map[string]struct {
		status, headers string
		want            time.Duration
	}{
		"seconds":              {"429 Too Many Requests", "Retry-After: 120\n", 2 * time.Minute},
		"seconds, with spaces": {"503 Service Unavailable", "Retry-After:   7 \n", 7 * time.Second},
		"of a body too large":  {"413 Content Too Large", "Retry-After: 1\n", time.Second},
		"zero":                 {"503 Service Unavailable", "Retry-After: 0\n", 0},
		"a date": {"503 Service Unavailable", "Retry-After: Fri, 31 Dec 1999 23:59:59 " +
			"GMT\n" + sent, 2 * time.Minute},
		"a date of RFC 850": {"503 Service Unavailable", "Retry-After: Friday, 31-Dec-99 23:59:59 " +
			"GMT\n" + sent, 2 * time.Minute},
		"a date of asctime": {"503 Service Unavailable", "Retry-After: Fri Dec 31 23:59:59 " +
			"1999\n" + sent, 2 * time.Minute},
		"a date that passed": {"503 Service Unavailable", "Retry-After: Fri, 31 Dec 1999 23:57:58 GMT\n" + sent, 0},
		"a date by our clock": {"503 Service Unavailable", "Retry-After: Fri, 20 Nov 2026 12:00:30 " +
			"GMT\n", 30 * time.Second},
		"a date and a Date, none": {"503 Service Unavailable", "Retry-After: Fri, 20 Nov 2026 12:00:30 GMT\nDate: " +
			"today\n", 30 * time.Second},
		"two days":           {"429 Too Many Requests", "Retry-After: 172800\n", 48 * time.Hour},
		"more than a year":   {"429 Too Many Requests", "Retry-After: 999999999\n", 366 * 24 * time.Hour},
		"more than a number": {"429 Too Many Requests", "Retry-After: 99999999999999999999\n", 366 * 24 * time.Hour},
		"a date in years": {"503 Service Unavailable", "Retry-After: Thu, 31 Dec 2099 23:59:59 " +
			"GMT\n" + sent, 366 * 24 * time.Hour},
		"zeros before it":      {"503 Service Unavailable", "Retry-After: 007\n", 7 * time.Second},
		"two numbers":          {"503 Service Unavailable", "Retry-After: 5, 10\n", 0},
		"less than nothing":    {"429 Too Many Requests", "Retry-After: -5\n", 0},
		"a sign":               {"429 Too Many Requests", "Retry-After: +5\n", 0},
		"a fraction":           {"429 Too Many Requests", "Retry-After: 1.5\n", 0},
		"an hour in words":     {"429 Too Many Requests", "Retry-After: 1h\n", 0},
		"nothing":              {"429 Too Many Requests", "Retry-After:\n", 0},
		"not an answer for it": {"500 Internal Server Error", "Retry-After: 120\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			target := newRawTarget(t, func(int, string) string { return rawAnswer(c.status, c.headers, "") })
			x := httpcall.New(clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), open())
			defer x.Close()
			got := x.Run(t.Context(), newRun(t, data{"url": target.URL}), &executortest.Recorder{})
			require.Equal(t, []any{entity.StatusFailed, entity.ReasonHTTPStatus}, []any{got.Status, got.Reason}, got.Message)
			require.Equal(t, c.want, got.Asked)
			require.Zero(t, got.RetryAfter, "only handlers overrule the policy")
		})
	}
}
