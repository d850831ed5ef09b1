package request

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// FuzzBodies: every reader of a body takes it or says that the client is wrong.
func FuzzBodies(f *testing.F) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	jobs := JobReader{TimeZone: "UTC", Now: func() time.Time { return now }}
	readers := []func(r *http.Request) error{
		func(r *http.Request) error { _, err := jobs.Create(r); return err },
		func(r *http.Request) error { _, err := jobs.Replace(r, true); return err },
		func(r *http.Request) error { _, err := jobs.Document(r); return err },
		func(r *http.Request) error { _, err := jobs.Preview(r); return err },
		func(r *http.Request) error { _, _, err := jobs.Backfill(r); return err },
		func(r *http.Request) error { _, err := ReadTrigger(r); return err },
		func(r *http.Request) error { _, err := ReadGroup(r); return err },
		func(r *http.Request) error { _, err := ReadGroupChange(r, "g"); return err },
		func(r *http.Request) error { _, err := ReadBulk(r); return err },
		func(r *http.Request) error { _, err := ReadBulkLetters(r); return err },
		func(r *http.Request) error { _, err := ReadPause(r, "ann"); return err },
		func(r *http.Request) error { _, _, err := ReadBulkPause(r, "ann"); return err },
		func(r *http.Request) error { _, err := ReadCopy(r); return err },
		func(r *http.Request) error { _, err := ReadSecret(r); return err },
		func(r *http.Request) error { _, err := ReadSecretChange(r); return err },
		func(r *http.Request) error { _, err := ReadUser(r); return err },
		func(r *http.Request) error { _, err := ReadUserChange(r); return err },
		func(r *http.Request) error { _, err := ReadToken(r); return err },
		func(r *http.Request) error { _, err := ReadLogin(r); return err },
		func(r *http.Request) error { _, err := ReadChangePassword(r); return err },
	}
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `{"name":"n","jobType":"CUSTOM","jobClass":"noop","version":1}`,
		`{"version":1,"jobs":[{"name":"n"}],"groups":[{"name":"g","maxConcurrency":2}]}`,
		`{"schedule":{"kind":"CRON","cronExpression":"0 0/5 * * * ?"},"count":3}`,
		`{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`,
		`{"params":{"day":"x"},"fireKey":"k"}`, `{"ids":["a","b"],"reason":"r"}`, `{"name":"s","value":"secret"}`,
		`{"username":"ann","password":"p","role":"ADMIN"}`,
		`{"a":1,"a":2}`, `{"name":"\ud800"}`, `{"name":`, "\xff", `{"maxConcurrency":1e999}`, `{"startTime":-1}`,
	} {
		for i := range readers {
			f.Add(uint8(i), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if err := readers[int(which)%len(readers)](r); err != nil {
			requireRefusal(t, err)
		}
	})
}

// requireRefusal requires that an error tells the client what to change.
func requireRefusal(t *testing.T, err error) {
	t.Helper()
	require.True(t, apperror.Is(err, apperror.KindInvalid) || apperror.Is(err, apperror.KindMalformed) ||
		apperror.Is(err, apperror.KindTooLarge),
		"%T: %v", err, err)
	require.True(t, utf8.ValidString(err.Error()), "%q", err.Error())
}

// FuzzReport: what the target of a call reports is refused, or within its bounds.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"status":"SUCCESS","result":"{\"orders\": 500}","noRetry":false}`))
	f.Add([]byte(`{"progress":50,"checkpoint":"order 250","lines":["a","b\u0000"]}`))
	f.Add([]byte(`{"status":"DEAD","progress":101}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		report, err := ReadReport(r)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		require.Contains(t, []entity.Status{"", entity.StatusSuccess, entity.StatusFailed}, report.Status)
		require.True(t, report.Progress >= -1 && report.Progress <= 100)
		require.LessOrEqual(t, len(report.Lines), maxReportLines)
		for _, text := range append([]string{report.Message, report.Result}, report.Lines...) {
			require.True(t, utf8.ValidString(text))
		}
	})
}
