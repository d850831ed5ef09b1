package httpcall_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A target that says when to come back is believed, within a day.
func TestATargetMaySayWhenToTryAgain(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		after  string
		date   string
		want   time.Duration
	}{
		"seconds":               {429, "120", "", 2 * time.Minute},
		"seconds, with spaces":  {503, " 7 ", "", 7 * time.Second},
		"a date":                {503, "Fri, 20 Nov 2026 12:00:30 GMT", "Fri, 20 Nov 2026 12:00:00 GMT", 30 * time.Second},
		"a date that passed":    {503, "Fri, 20 Nov 2026 11:00:00 GMT", "Fri, 20 Nov 2026 12:00:00 GMT", 0},
		"a date without a now":  {503, "Fri, 20 Nov 2026 12:00:30 GMT", "-", 0},
		"too long":              {429, "999999999", "", 24 * time.Hour},
		"too long for a number": {429, "99999999999999999999", "", 0},
		"less than nothing":     {429, "-5", "", 0},
		"nothing":               {429, "", "", 0},
		"nonsense":              {429, "soon", "", 0},
		"not an answer for it":  {500, "120", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", c.after)
				if c.date == "-" {
					w.Header()["Date"] = nil
				} else if c.date != "" {
					w.Header().Set("Date", c.date)
				}
				w.WriteHeader(c.status)
			})
			got, _ := call(t, data{"url": s.URL})
			require.Equal(t, []any{entity.StatusFailed, entity.ReasonHTTPStatus}, []any{got.Status, got.Reason})
			require.Equal(t, c.want, got.RetryAfter)
		})
	}
}
