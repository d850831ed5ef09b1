package request

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

func TestDecodeKeepsOrderAndDigits(t *testing.T) {
	t.Parallel()
	const text = `{"z":1.50,"a":{"y":[1e3,"\u003c\ud83d\ude00",null,true]},"m":12345678901234567890}`
	o, err := decode(t.Context(), []byte(text), 100)
	require.NoError(t, err)
	out, err := json.Marshal(o.fields["a"])
	require.NoError(t, err)
	require.NotEmpty(t, out)
	raw, err := o.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"z":1.50,"a":{"y":[1e3,"<😀",null,true]},"m":12345678901234567890}`, string(raw))
}

// Nobody waits for the answer to a call that has ended.
func TestDecodingStopsWithTheCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	many := []byte(`{"a":[0` + strings.Repeat(",0", lookEvery) + "]}")
	_, err := decode(ctx, many, maxBodyValues)
	require.ErrorIs(t, err, context.Canceled)
	_, err = decode(t.Context(), many, maxBodyValues)
	require.NoError(t, err)
	_, err = decode(t.Context(), many, lookEvery)
	require.True(t, apperror.Is(err, apperror.KindTooLarge))
}

func TestAFaultNamesItsPlace(t *testing.T) {
	t.Parallel()
	_, err := decode(t.Context(), []byte(`{"a":[0,{"b":{"c":1,"c":2}}]}`), 100)
	require.ErrorContains(t, err, `"a[1].b.c" is given twice`)
	_, err = decode(t.Context(), []byte(`{"`+strings.Repeat("x", 256)+`":1}`), 100)
	require.NoError(t, err)
	_, err = decode(t.Context(), []byte(`{"a":[{"b":{"`+strings.Repeat("x", 257)+`":1}}]}`), 100)
	var invalid *apperror.Error
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "name_too_long", invalid.Fields[0].Code)
	require.Equal(t, clip("a[0].b."+strings.Repeat("x", 200)), invalid.Fields[0].Field)
}

func TestSurrogates(t *testing.T) {
	t.Parallel()
	for text, at := range map[string]int{
		`"\ud83d\ude00"`: -1, `"\\ud800"`: -1, `"\\\\ud800"`: -1, `"\"\ud800"`: 3, `"\ud800\ud800"`: 1, `"\ude00\ud83d"`: 1,
		`"\u0041\udc00"`: 7, `"\uD83D\uDE00\udfff"`: 13,
	} {
		require.Equal(t, at, loneSurrogate([]byte(text)), text)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-20T21:33:00Z": "2026-11-20T21:33:00.000Z", "2026-11-20T21:33:00.1239+08:00": "2026-11-20T13:33:00.123Z",
		"1970-01-01T00:00:00Z": "1970-01-01T00:00:00.000Z", "9999-12-31T23:59:59Z": "9999-12-31T23:59:59.000Z",
	} {
		got, remedy := ParseTime(text)
		require.Empty(t, remedy, text)
		require.Equal(t, want, got.Format("2006-01-02T15:04:05.000Z"))
	}
	for _, text := range []string{
		"", "now", "2026-11-20", "2026-11-20T21:33:00", "2026-11-20 21:33:00Z", "2026-02-30T00:00:00Z",
		"2026-11-20T24:00:00Z", "2026-11-20T21:33:60Z",
		"2026-11-20T21:33:00+99:99", "2026-11-20T1:33:00Z", "2026-11-20T21:33:00,5Z", "0001-01-01T00:00:00Z",
		"1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00",
		"2026-11-20T21:33:00.00000000000000000000000000000000000000000001Z",
	} {
		_, remedy := ParseTime(text)
		require.NotEmpty(t, remedy, text)
	}
}

// FuzzJobJSON: whatever comes, it is refused or it survives being shown and
// sent again unchanged.
func FuzzJobJSON(f *testing.F) {
	f.Add([]byte(`{"name":"n","jobType":"CUSTOM","jobClass":"noop"}`))
	f.Add([]byte(`{"name":"n","jobType":"HTTP","jobData":{"url":"http://x","headers":{"a":"b"}},"schedule":{"kind":"CRON","cronExpression":"0 0/5 * * * ?"}}`))
	f.Add([]byte(`{"name":"\ud83d\ude00","jobType":"COMMAND","schedule":{"kind":"ONCE","at":"2027-01-01T00:00:00Z"},"retryPolicy":{"jitter":0.25,"noRetryOn":["PANIC"]}}`))
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	reader := JobReader{TimeZone: "UTC", Now: func() time.Time { return now }}
	read := func(body []byte) (JobInput, error) {
		req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		return reader.Create(req)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := read(body)
		if err != nil {
			return
		}
		if !utf8.ValidString(first.Job.Name) || !json.Valid([]byte(first.Job.Data)) {
			t.Fatalf("accepted %q", body)
		}
		shown, err := json.Marshal(vo.FromJob(first.Job))
		require.NoError(t, err)
		second, err := read(shown)
		require.NoError(t, err, string(shown))
		again, err := json.Marshal(vo.FromJob(second.Job))
		require.NoError(t, err)
		require.Equal(t, string(shown), string(again))
	})
}

// FuzzQuery: parameters are refused or harmless.
func FuzzQuery(f *testing.F) {
	f.Add("limit=5&cursor=abc&name=%25")
	f.Add("from=2026-01-01T00:00:00Z&to=x&limit=-1")
	f.Fuzz(func(t *testing.T, raw string) {
		q := NewQuery(raw)
		name := q.Text("name")
		from, to := q.Span()
		page := q.Page()
		if q.Done() != nil {
			return
		}
		require.True(t, utf8.ValidString(name))
		require.NotContains(t, name, "\x00")
		require.True(t, page.Limit >= 1 && page.Limit <= MaxLimit)
		require.True(t, from.IsZero() || to.IsZero() || from.Before(to))
	})
}
