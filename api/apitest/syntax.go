package apitest

import (
	"net/http"
	"strings"
)

// The bounds of a body: the bytes of one with passwords and of a field's name,
// and the values in it.
const (
	maxCredentials = 4 << 10
	maxName        = 256
	maxValues      = 50_000
)

func syntax() []Case {
	deep := func(n int) string { return raw("jobData", strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)) }
	var out []Case
	for _, c := range []struct {
		row, body string
		status    int
		code      string
	}{
		{"72", " ", 400, "empty_body"},
		{"73", "null", 400, "not_an_object"},
		{"74 array", "[]", 400, "not_an_object"},
		{"74 number", "1", 400, "not_an_object"},
		{"74 text", `"x"`, 400, "not_an_object"},
		{"75", deep(100_000), 400, "invalid_json"},
		{"75 limit", deep(64), 400, "too_deep"},
		{"75 arrays", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", 400, "too_deep"},
		{"76", `{"name":"a","name":"b"}`, 400, "duplicate_field"},
		{"76 inside", `{"jobData":{"a":{"b":1,"b":2}}}`, 400, "duplicate_field"},
		{"76 escaped", `{"a":1,"\u0061":2}`, 400, "duplicate_field"},
		{
			"76 long", `{"` + strings.Repeat("x", maxName) + `":1,"` + strings.Repeat("x", maxName) + `":1}`, 400,
			"duplicate_field",
		},
		{"50 name", `{"` + strings.Repeat("x", maxName+1) + `":1}`, 422, "invalid"},
		{"71 values", `{"a":[0` + strings.Repeat(",0", maxValues) + `]}`, 413, "too_many_values"},
		{"82 word", `{"name":"a"} x`, 400, "invalid_json"},
		{"82 second", `{"name":"a"}{}`, 400, "invalid_json"},
		{"82 comma", `{"name":"a",}`, 400, "invalid_json"},
		{"82 no value", `{"name":}`, 400, "invalid_json"},
		{"82 no quotes", `{name:"a"}`, 400, "invalid_json"},
		{"82 open", `{"name":"a"`, 400, "invalid_json"},
		{"82 array", `{"a":[1,]}`, 400, "invalid_json"},
		{"82 NaN", `{"a":NaN}`, 400, "invalid_json"},
		{"82 zero", `{"a":01}`, 400, "invalid_json"},
		{"82 mark", "\xef\xbb\xbf{}", 400, "invalid_json"},
		{"79", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "body_too_large"},
		{"52", "{\"name\":\"a\xff\"}", 400, "invalid_utf8"},
		{"53 high", `{"name":"\ud800"}`, 400, "lone_surrogate"},
		{"53 low", `{"name":"\udc00"}`, 400, "lone_surrogate"},
		{"53 text", `{"name":"\ud800x"}`, 400, "lone_surrogate"},
		{"53 other", `{"name":"\ud800\u0041"}`, 400, "lone_surrogate"},
		{"53 backslash", `{"name":"\\\ud800"}`, 400, "lone_surrogate"},
	} {
		for _, path := range []string{jobs, trigger, preview, password, login} {
			refused := Case{Row: c.row, Method: http.MethodPost, Path: path, Body: c.body, Status: c.status, Code: c.code}
			if len(c.body) > maxCredentials && (path == password || path == login) {
				refused.Status, refused.Code = 413, "body_too_large"
			}
			out = append(out, refused)
		}
	}
	return append(out,
		Case{
			Row: "50", Method: http.MethodPost, Path: jobs, Body: `{"name":"` + strings.Repeat("x", 10<<20) + `"}`,
			Status: 413, Code: "body_too_large",
		},
		Case{
			Row: "72 nothing", Method: http.MethodPost, Path: jobs, Headers: []string{"Content-Type", "application/json"},
			Status: 400, Code: "empty_body",
		})
}

func mediaTypes() []Case {
	var out []Case
	for _, kind := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx",
		"application/json; charset=gbk", "application/json; charset=utf-16", ";;",
	} {
		out = append(out, Case{
			Row: "81 " + kind, Method: http.MethodPost, Path: jobs, Body: minimal().String(),
			Headers: []string{"Content-Type", kind}, Status: 415,
		})
	}
	for _, encoding := range []string{"gzip", "deflate", "br", "gzip, gzip"} {
		out = append(out, Case{
			Row: "80 " + encoding, Method: http.MethodPost, Path: jobs, Body: minimal().String(),
			Headers: []string{"Content-Encoding", encoding},
			Status:  415, Code: "unsupported_encoding",
		})
	}
	return out
}
