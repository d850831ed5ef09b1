package api_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/console"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// consoleEdge is an edge that serves a small build of the console.
func consoleEdge(t *testing.T) *edge {
	t.Helper()
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }
	site, err := console.New(fstest.MapFS{
		"index.html": file(`<!doctype html><meta name="n" content="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>`),
		".gitkeep":   file(""), "favicon.svg": file("<svg/>"), "assets/app-x1_-Y.js": file("plain script"),
		"assets/app-x1_-Y.js.br": file("br"), "assets/app-x1_-Y.js.gz": file("gzip"), "assets/a.css": file("style"),
		"assets/font.woff2": file("font"), "assets/.hidden": file("canary"), "assets/deep/b.js": file("canary"),
	})
	require.NoError(t, err)
	e := newEdge(t)
	e.probesOnly = true // the console is no part of the documented API
	e.rebuild(func(d *api.Deps) { d.Console = site })
	return e
}

// browse asks as a stranger's browser that goes to an address.
func (e *edge) browse(method, path string, headers ...string) answer {
	e.t.Helper()
	return e.call(method, path, "", append([]string{"Authorization", "", "Accept", browser}, headers...)...)
}

// isPage checks for the page of the console and returns its nonce.
func (a answer) isPage() string {
	a.t.Helper()
	a.want(200)
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "ETag": "",
	} {
		require.Equal(a.t, value, a.header.Get(name), name)
	}
	policy := regexp.MustCompile(`^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-([A-Z2-7]{26})'; ` +
		`img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; ` +
		`form-action 'self'$`)
	found := policy.FindStringSubmatch(a.header.Get("Content-Security-Policy"))
	require.Len(a.t, found, 2, a.header.Get("Content-Security-Policy"))
	return found[1]
}

func TestThePageHasANewNonceInEachAnswer(t *testing.T) {
	e := consoleEdge(t)
	seen := map[string]bool{}
	for range 20 {
		a := e.browse("GET", "/")
		nonce := a.isPage()
		require.Equal(t, 2, strings.Count(a.body, nonce))
		require.NotContains(t, a.body, "__CSP_NONCE__")
		require.False(t, seen[nonce])
		seen[nonce] = true
	}
	head := e.browse("HEAD", "/")
	head.isPage()
	require.Empty(t, head.body)
	require.Equal(t, e.browse("GET", "/").header.Get("Content-Length"), head.header.Get("Content-Length"))
	e.browse("GET", "/", "Accept", "").isPage() // the address of the console itself shows it to everybody
}

func TestBrowsersGetThePageAtAddressesOfTheConsole(t *testing.T) {
	e := consoleEdge(t)
	for _, path := range []string{
		"/jobs", "/jobs/01ABC/executions?status=DEAD&tab=%2e%2e", "/index.html", "/executions/", "/a%20b",
		"/%E4%BD%9C%E4%B8%9A", "/jobs/x.y", "/assets.html", "/apis", "/" + strings.Repeat("a", 2000),
	} {
		e.browse("GET", path).isPage()
		require.Empty(t, e.browse("HEAD", path).body)
	}
	for _, accept := range []string{
		"", "*/*", "application/json", "text/html;q=0", "text/html;q=2", "text/htmlx", "text/*",
	} {
		e.browse("GET", "/jobs", "Accept", accept).wantCode(404, "no_such_route")
	}
	e.browse("GET", "/jobs", "Accept", "application/json, TEXT/HTML ; q=0.1").isPage()
	for _, method := range []string{
		"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", strings.Repeat("X", 999),
	} {
		e.browse(method, "/jobs").wantCode(404, "no_such_route")
		a := e.browse(method, "/")
		a.wantCode(405, "method_not_allowed")
		require.Equal(t, "GET, HEAD", a.header.Get("Allow"))
		e.browse(method, "/assets/a.css").wantCode(405, "method_not_allowed")
	}
}

// A browser that has a wrong address of the API is told so, and gets no page.
func TestOtherAddressesShowNoPage(t *testing.T) {
	e := consoleEdge(t)
	for _, path := range []string{
		"/api", "/api/", "/api/v1", "/api/v1/nothing", "/API/v1/jobs", "/%61pi/v1/nothing", "/swagger", "/swagger/",
		"/swagger/nothing.js", "/metrics/", "/healthz/x", "/readyz/", "/version/1", "/openapi.json/x", "/internal/v1/x",
		"/debug/pprof/", "/assets", "/assets/", "/assets/nothing.js", "/assets/deep/b.js", "/assets/deep", "/ASSETS/a.css",
	} {
		a := e.browse("GET", path)
		a.wantCode(404, "no_such_route")
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
	}
	e.browse("GET", "/api/v1/jobs").wantCode(401, "no_token")
}

func TestNobodyClimbsOutOfTheFilesOfTheConsole(t *testing.T) {
	e := consoleEdge(t)
	for _, raw := range []string{
		"/..", "/../", "/assets/..", "/assets/../index.html", "/assets/../../../etc/passwd", "/assets/%2e%2e/index.html",
		"/assets/%2e%2e%2findex.html", "/assets/..%2f..%2fetc%2fpasswd", "/assets/..%5c..%5cetc",
		"/assets/%252e%252e%252fetc", "/assets/.hidden", "/assets/%2ehidden", "/assets/deep%2fb.js", "/assets//a.css",
		"//assets/a.css", "//evil.example/", "/assets/a.css%00", "/assets/a.css%00.js", "/assets/a.css%0a", "/x%00y",
		"/x%0d%0aSet-Cookie:a=b", "/x\\..\\y", "/x%5c..%5cy", "/./jobs", "/jobs/../api/v1/jobs", "/jobs/%2e%2e/x",
		"/%ff%fe", "/assets/%c0%ae%c0%ae%2fx", "/assets/a.css/", "/assets/a.css.br", "/assets/app-x1_-Y.js.br",
		"/assets/app-x1_-Y.js.gz", "/assets/" + strings.Repeat("a", 65), "/" + strings.Repeat("a", 2049),
		"/assets/" + strings.Repeat("x/", 5000), "/assets/a.css%2f..%2f..", "/.gitkeep/..", "/..%00/",
	} {
		path, err := url.PathUnescape(raw)
		require.NoError(t, err)
		req := httptest.NewRequestWithContext(t.Context(), "GET", "http://console.example/", nil)
		req.URL, req.RequestURI = &url.URL{Scheme: "http", Host: "console.example", Path: path, RawPath: raw}, raw
		req.Header.Set("Accept", browser)
		rec := httptest.NewRecorder()
		e.router.ServeHTTP(rec, req)
		require.Equal(t, 404, rec.Code, "%s: %s", raw, rec.Body)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"), raw)
		require.NotContains(t, rec.Body.String(), "canary", raw)
	}
}

func TestAssetsAreKeptForYearsAndSentInTheSmallestFormThatSuits(t *testing.T) {
	e := consoleEdge(t)
	const script = "/assets/app-x1_-Y.js"
	forms := map[string][]string{ // what comes, by what is asked for
		"br":   {"br", "gzip, deflate, br", "gzip;q=1.0, br;q=0.1", "*", "BR", "identity;q=0, br", " br ;q=0.5", "gzip;q=0, *"},
		"gzip": {"gzip", "gzip, deflate", "br;q=0, gzip", "br;q=0, *;q=0.5", "br;q=x, gzip", "br;q=-1, gzip", "br;q=2, gzip"},
		"": {
			"", "identity", "deflate", "zstd", "br;q=0", "*;q=0", "brx, xgzip", ";,;,", "br;q=0;q=1", "br;q=NaN",
			strings.Repeat("x,", 20000),
		},
	}
	for encoded, accepted := range forms {
		for _, accept := range accepted {
			a := e.browse("GET", script, "Accept-Encoding", accept).want(200)
			require.Equal(t, map[string]string{"br": "br", "gzip": "gzip", "": "plain script"}[encoded], a.body, accept)
			for name, value := range map[string]string{
				"Content-Encoding": encoded, "Cache-Control": "public, max-age=31536000, immutable",
				"Content-Type": "text/javascript; charset=utf-8", "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
			} {
				require.Equal(t, value, a.header.Get(name), "%s for %s", name, accept)
			}
			require.Contains(t, a.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
			head := e.browse("HEAD", script, "Accept-Encoding", accept).want(200)
			require.Empty(t, head.body)
			for _, name := range []string{"Content-Length", "Content-Encoding", "ETag", "Content-Type"} {
				require.Equal(t, a.header.Get(name), head.header.Get(name), name)
			}
		}
	}
	css := e.browse("GET", "/assets/a.css", "Accept-Encoding", "br, gzip").want(200)
	require.Equal(t, []string{"text/css; charset=utf-8", "", "", "style"}, []string{
		css.header.Get("Content-Type"), css.header.Get("Content-Encoding"), css.header.Get("Vary"), css.body,
	})
	require.Equal(t, "font/woff2", e.browse("GET", "/assets/font.woff2").want(200).header.Get("Content-Type"))
	icon := e.browse("GET", "/favicon.svg", "Accept", "image/*").want(200)
	require.Equal(t, []string{"image/svg+xml", "no-cache"},
		[]string{icon.header.Get("Content-Type"), icon.header.Get("Cache-Control")})
}

func TestWhoHasAnAssetGetsItNotAgain(t *testing.T) {
	e := consoleEdge(t)
	const script = "/assets/app-x1_-Y.js"
	plain := e.browse("GET", script).want(200).header.Get("ETag")
	small := e.browse("GET", script, "Accept-Encoding", "br").want(200).header.Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, plain)
	require.NotEqual(t, plain, small, "forms differ in bytes, so their strong tags do")
	for _, held := range []string{plain, `"other", ` + plain, "W/" + plain, "*"} {
		a := e.browse("GET", script, "If-None-Match", held)
		a.want(304)
		require.Empty(t, a.body)
		require.Equal(t, plain, a.header.Get("ETag"))
	}
	for _, held := range []string{small, `"other"`, strings.Trim(plain, `"`), ",,,"} {
		e.browse("GET", script, "If-None-Match", held).want(200)
	}
	e.browse("GET", script, "Range", "bytes=0-1").want(200)
}

func TestTheConsoleCanBeSwitchedOff(t *testing.T) {
	for name, off := range map[string]func(d *api.Deps){
		"by the setting":   func(d *api.Deps) { d.Console = nil },
		"without the role": func(d *api.Deps) { d.ProbesOnly = true },
	} {
		e := consoleEdge(t)
		e.rebuild(off)
		for _, path := range []string{"/", "/jobs", "/assets/a.css", "/favicon.svg"} {
			require.Equal(t, 404, e.browse("GET", path).status, "%s %s", name, path)
		}
		e.browse("GET", "/healthz").want(200)
	}
}
