package httpcall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

func check(data string) []apperror.Field {
	return httpcall.New(clock.NewSystem(), open()).Check(&entity.Job{Type: entity.JobHTTP, Data: data})
}

func urlData(t *testing.T, url string) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{"url": url})
	require.NoError(t, err)
	return string(text)
}

func TestCheckTakesGoodDefinitions(t *testing.T) {
	for _, url := range []string{
		"http://example.com", "https://example.com:65535/a/b?c=d&e=%20", "http://example.com.", "HTTP://EXAMPLE.com:65535/",
		"http://127.0.0.1:8080", "http://[::1]:80/", "http://bücher.example/ü?q=ü",
		"http://h/%2e%2e/%00?when=${scheduledTime}&day=${scheduledTime:yyyy-MM-dd HH:mm}",
	} {
		require.Empty(t, check(urlData(t, url)), url)
	}
	require.Empty(t, check(`{"url":"http://h","method":"POST","headers":{"X-A":"1","authorization":"Bearer ${secret.t}","x-tab":"a\tb"},
		"body":"{}","expectedStatus":"200, 204,300-302","expectedBody":"ok","async":false}`))
	require.Empty(t, check(`{"url":"http://h","headers":{"X-Version":1.10,"X-Dry":true},"expectedStatus":200}`))
	require.Empty(t, check(`{"url":"http://h","method":null,"headers":{},"body":"","expectedStatus":"","expectedBody":""}`))
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		require.Empty(t, check(fmt.Sprintf(`{"url":"http://h","method":%q}`, method)))
	}
}

func TestCheckRefusesURLs(t *testing.T) {
	for _, url := range []string{
		"example.com", "//example.com", "/path", "http:example.com", "http://", "http:///path", "http://:80",
		"file:///etc/passwd", "gopher://h", "ftp://h", "unix:/run/x.sock", "javascript:alert(1)",
		"http://user:hunter2@host", "http://user@host", "http://good.com@evil", "http://evil#good.com", "http://evil/#",
		"http://h:0", "http://h:65536", "http://h:", "http://h:http", "http://h:-1",
		" http://h", "http://h ", "http://h/\t", "ht\ttp://h", "http://h/\r\nX: y", "http://h/\x00", "http://h/\x7f",
		"http://h%00.com", "http://a b/", "http://good.com\\@evil", "http://[::1", "http://h/%zz",
	} {
		faults := check(urlData(t, url))
		require.Len(t, faults, 1, "%q", url)
		require.Equal(t, "jobData.url", faults[0].Field)
		require.Equal(t, "invalid", faults[0].Code)
		require.NotContains(t, faults[0].Message, "hunter2", "a URL may hold secrets")
	}
	for _, data := range []string{``, `{}`, `{"url":null}`, `{"url":""}`} {
		require.Equal(t, []apperror.Field{{
			Field: "jobData.url", Code: "required",
			Message: "give the URL to call, such as https://example.com/path",
		}}, check(data))
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	many := map[string]string{}
	for i := range 101 {
		many[fmt.Sprintf("X-%d", i)] = "v"
	}
	hundredAndOne, err := json.Marshal(many)
	require.NoError(t, err)
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	cases := []struct{ name, more, field, code string }{
		{"unknown", `"timeout":5`, "timeout", "unknown_field"},
		{"case", `"Url":"http://x"`, "Url", "unknown_field"},
		{"connect", `"method":"CONNECT"`, "method", "unknown_value"},
		{"trace", `"method":"TRACE"`, "method", "unknown_value"},
		{"no method", `"method":""`, "method", "unknown_value"},
		{"lower case", `"method":"get"`, "method", "unknown_value"},
		{"space", `"method":"GE T"`, "method", "unknown_value"},
		{"long method", `"method":` + long(17), "method", "too_long"},
		{"method type", `"method":1`, "method", "wrong_type"},
		{"body of GET", `"body":"x"`, "body", "conflict"},
		{"body type", `"method":"POST","body":{"a":1}`, "body", "wrong_type"},
		{"body size", `"method":"POST","body":` + long(1<<20+1), "body", "too_long"},
		{"headers type", `"headers":[]`, "headers", "wrong_type"},
		{"header type", `"headers":{"X-A":[1]}`, "headers.X-A", "wrong_type"},
		{"header line break", `"headers":{"X-A":"1\r\nX-B: 2"}`, "headers.X-A", "invalid"},
		{"header NUL", `"headers":{"X-A":"\u0000"}`, "headers.X-A", "invalid"},
		{"header name break", `"headers":{"X-A: 1\r\nX-B":"2"}`, "headers", "invalid"},
		{"header name empty", `"headers":{"":"2"}`, "headers", "invalid"},
		{"header name letters", `"headers":{"X-É":"2"}`, "headers", "invalid"},
		{"host", `"headers":{"host":"evil"}`, "headers.host", "reserved"},
		{"transfer-encoding", `"headers":{"Transfer-Encoding":"chunked"}`, "headers.Transfer-Encoding", "reserved"},
		{"content-length", `"headers":{"content-length":"5"}`, "headers.content-length", "reserved"},
		{"connection", `"headers":{"Connection":"keep-alive"}`, "headers.Connection", "reserved"},
		{"run header", `"headers":{"x-scheduler-attempt":"9"}`, "headers.x-scheduler-attempt", "reserved"},
		{"header twice", `"headers":{"X-A":"1","x-a":"2"}`, "headers.x-a", "conflict"},
		{"header size", `"headers":{"X-A":` + long(8193) + `}`, "headers.X-A", "too_long"},
		{"many headers", `"headers":` + string(hundredAndOne), "headers", "too_many"},
		{"status word", `"expectedStatus":"ok"`, "expectedStatus", "invalid"},
		{"status number", `"expectedStatus":2e2`, "expectedStatus", "invalid"},
		{"status in a list", `"expectedStatus":[200]`, "expectedStatus", "wrong_type"},
		{"status range", `"expectedStatus":"299-200"`, "expectedStatus", "invalid"},
		{"status low", `"expectedStatus":"199"`, "expectedStatus", "invalid"},
		{"status high", `"expectedStatus":"200-600"`, "expectedStatus", "invalid"},
		{"status sign", `"expectedStatus":"+20"`, "expectedStatus", "invalid"},
		{"status comma", `"expectedStatus":"200,"`, "expectedStatus", "invalid"},
		{"status list", `"expectedStatus":"` + strings.Repeat("200,", 32) + `200"`, "expectedStatus", "invalid"},
		{"expected body size", `"expectedBody":` + long(4097), "expectedBody", "too_long"},
		{"async", `"async":true`, "async", "not_enabled"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			faults := check(`{"url":"http://h",` + c.more + `}`)
			require.Len(t, faults, 1)
			require.Equal(t, "jobData."+c.field, strings.TrimSuffix(faults[0].Field, "."))
			if c.field == "headers" {
				require.Equal(t, "jobData.headers", faults[0].Field)
			}
			require.Equal(t, c.code, faults[0].Code)
			require.NotEmpty(t, faults[0].Message)
		})
	}
	require.Len(t, check(`{"url":"ftp://h","method":"X","headers":{"Host":"a"},"expectedStatus":"x","else":1}`), 5,
		"everything that is wrong is said at once")
}
