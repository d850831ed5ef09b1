package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
)

const (
	loginPath = "/api/v1/auth/login"
	mePath    = "/api/v1/auth/me"
)

// csrfOf is the CSRF token as it is documented, computed anew.
func csrfOf(session string) string {
	mac := hmac.New(sha256.New, []byte(session))
	mac.Write([]byte("platform-scheduler csrf v1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// byCookie are the headers of a call with a session's cookie.
func byCookie(token string, more ...string) []string {
	return append([]string{"Authorization", "", "Cookie", "ps_session=" + token}, more...)
}

// cookieOf is the one cookie that an answer sets.
func (a answer) cookieOf() *http.Cookie {
	a.t.Helper()
	found := (&http.Response{Header: a.header}).Cookies()
	require.Len(a.t, found, 1, a.body)
	return found[0]
}

func TestASessionInACookie(t *testing.T) {
	e := newEdge(t)
	body := `{"username":"ann","password":"right","cookie":true}`
	a := e.call("POST", loginPath, body, "Authorization", "").want(200)
	session := a.cookieOf().Value
	require.Regexp(t, "^pss_[0-9a-f]{64}$", session)
	require.NotContains(t, a.body, session, "pages must not see the token")
	require.NotContains(t, a.json(), "token")
	require.Equal(t, csrfOf(session), a.json()["csrfToken"])
	require.Equal(t, "ps_session="+session+"; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict",
		a.header.Get("Set-Cookie"))

	me := e.call("GET", mePath, "", byCookie(session)...).want(200).json()
	require.Equal(t, []any{"ann", csrfOf(session)}, []any{me["username"], me["csrfToken"]})
	require.NotContains(t, e.call("GET", mePath, "").want(200).json(), "csrfToken", "the header needs none")

	for _, plain := range []string{
		`{"username":"ann","password":"right"}`,
		`{"username":"ann","password":"right","cookie":false}`,
	} {
		a = e.call("POST", loginPath, plain, "Authorization", "").want(200)
		require.Regexp(t, "^pss_[0-9a-f]{64}$", a.json()["token"])
		require.NotContains(t, a.json(), "csrfToken")
		require.Empty(t, a.header.Get("Set-Cookie"))
	}
	e.call("POST", loginPath, `{"username":"ann","password":"right","cookie":"yes"}`).wantField(422, "cookie",
		"wrong_type")
	require.Empty(t, e.call("POST", loginPath, `{"username":"ann","password":"wrong","cookie":true}`).want(401).
		header.Get("Set-Cookie"))
}

func TestTheCookieIsForgotten(t *testing.T) {
	e := newEdge(t)
	for path, body := range map[string]string{
		"/api/v1/auth/logout":   "",
		"/api/v1/auth/password": `{"oldPassword":"right","newPassword":"correct horse"}`,
	} {
		session := e.signIn("ann")
		gone := e.call("POST", path, body, byCookie(session, "X-CSRF-Token", csrfOf(session))...).want(204).cookieOf()
		require.Equal(t, []any{"ps_session", "", -1, "/"}, []any{gone.Name, gone.Value, gone.MaxAge, gone.Path})
		e.call("GET", mePath, "", byCookie(session)...).wantCode(401, "unknown_token")
		require.Empty(t, e.call("POST", path, body, as(e.signIn("operator"))...).want(204).header.Get("Set-Cookie"),
			"the header is no cookie")
	}
}

func TestACookieOfTLSIsSecure(t *testing.T) {
	trusted := []string{"10.0.0.1", "192.0.2.0/24", "2001:db8::/32"}
	for name, c := range map[string]struct {
		tls     bool
		from    string
		proto   []string
		proxies []string
		secure  bool
	}{
		"plain":                {},
		"TLS":                  {tls: true, secure: true},
		"a believed proxy":     {proto: []string{"https"}, proxies: trusted, secure: true},
		"by one address":       {from: "10.0.0.1:1", proto: []string{"HTTPS"}, proxies: trusted, secure: true},
		"by IPv6":              {from: "[2001:db8::7]:1", proto: []string{"https"}, proxies: trusted, secure: true},
		"another address":      {from: "10.0.0.2:1", proto: []string{"https"}, proxies: trusted},
		"a proxy without TLS":  {proto: []string{"http"}, proxies: trusted},
		"a proxy that repeats": {proto: []string{"https", "http"}, proxies: trusted},
		"nobody is believed":   {proto: []string{"https"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.rebuild(func(d *api.Deps) {
				d.TrustedProxies = c.proxies
			})
			send := func(method, path, body, cookie string) *httptest.ResponseRecorder {
				req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header["X-Forwarded-Proto"] = c.proto
				req.Header.Set("Cookie", cookie)
				if c.from != "" {
					req.RemoteAddr = c.from
				}
				if c.tls {
					req.TLS = &tls.ConnectionState{}
				}
				rec := httptest.NewRecorder()
				e.router.ServeHTTP(rec, req)
				return rec
			}
			cookie := send("POST", loginPath, `{"username":"ann","password":"right","cookie":true}`, "").Result().Cookies()[0]
			name, other := "ps_session", "__Host-ps_session"
			if c.secure {
				name, other = other, name
			}
			require.Equal(t, []any{name, c.secure, true}, []any{cookie.Name, cookie.Secure, cookie.HttpOnly})
			require.Equal(t, 200, send("GET", mePath, "", name+"="+cookie.Value).Code)
			require.Equal(t, 401, send("GET", mePath, "", other+"="+cookie.Value).Code,
				"what somebody on the way could plant counts for nothing")
		})
	}
}

func TestWhatACookieMayDo(t *testing.T) {
	const jobs, noop = "/api/v1/jobs", `{"name":"j","jobType":"CUSTOM","jobClass":"noop"}`
	good := csrfOf(adminToken)
	for name, c := range map[string]struct {
		method  string
		headers []string
		status  int
		code    string
	}{
		"reading needs no token": {"GET", byCookie(adminToken), 200, ""},
		"reading from elsewhere": {"GET", byCookie(adminToken, "Sec-Fetch-Site", "cross-site", "Origin",
			"https://evil"), 200, ""},
		"changing needs one":      {"POST", byCookie(adminToken), 403, "csrf"},
		"with the token":          {"POST", byCookie(adminToken, "X-CSRF-Token", good), 201, ""},
		"with another's":          {"POST", byCookie(adminToken, "X-CSRF-Token", csrfOf(operatorToken)), 403, "csrf"},
		"with a part of it":       {"POST", byCookie(adminToken, "X-CSRF-Token", good[:63]), 403, "csrf"},
		"with the session itself": {"POST", byCookie(adminToken, "X-CSRF-Token", adminToken), 403, "csrf"},
		"from this page": {"POST", byCookie(adminToken, "X-CSRF-Token", good, "Sec-Fetch-Site",
			"same-origin", "Origin", "http://example.com"), 201, ""},
		"typed by a person": {
			"POST", byCookie(adminToken, "X-CSRF-Token", good, "Sec-Fetch-Site", "none"), 201,
			"",
		},
		"from another site": {"POST", byCookie(adminToken, "X-CSRF-Token", good, "Sec-Fetch-Site",
			"cross-site"), 403, "csrf"},
		"from a sibling site": {
			"POST", byCookie(adminToken, "X-CSRF-Token", good, "Sec-Fetch-Site", "same-site"),
			403, "csrf",
		},
		"an old browser, here": {"POST", byCookie(adminToken, "X-CSRF-Token", good, "Origin",
			"http://example.com"), 201, ""},
		"an old browser, elsewhere": {
			"POST", byCookie(adminToken, "X-CSRF-Token", good, "Origin", "http://evil"), 403,
			"csrf",
		},
		"a page without origin": {
			"POST", byCookie(adminToken, "X-CSRF-Token", good, "Origin", "null"), 403,
			"csrf",
		},
		"the public address": {"POST", byCookie(adminToken, "X-CSRF-Token", good, "Origin",
			"https://jobs.example.org"), 201, ""},
		"the right is asked too": {
			"POST", byCookie(viewerToken, "X-CSRF-Token", csrfOf(viewerToken)), 403,
			"forbidden",
		},
		"an unknown session": {
			"POST", byCookie("pss_none", "X-CSRF-Token", csrfOf("pss_none")), 401,
			"unknown_token",
		},
		"an empty cookie": {"GET", byCookie(""), 401, "unknown_token"},
		"an API token":    {"GET", byCookie(apiToken), 401, "unknown_token"},
		"two sessions": {
			"GET", byCookie(adminToken + "; ps_session=" + viewerToken), 401,
			"duplicate_cookie",
		},
		"the same session twice": {
			"GET", byCookie(adminToken + "; ps_session=" + adminToken), 401,
			"duplicate_cookie",
		},
		"beside other cookies": {"GET", byCookie(adminToken + "; other=1"), 200, ""},
		"nothing at all":       {"GET", []string{"Authorization", ""}, 401, "no_token"},
		"the header needs no token": {
			"POST",
			[]string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil"},
			201,
			"",
		},
		"the header wins": {"POST", []string{"Cookie", "ps_session=" + viewerToken}, 201, ""},
		"the header wins where it is bad": {"GET", []string{
			"Authorization", "Bearer wrong", "Cookie",
			"ps_session=" + adminToken,
		}, 401, "unknown_token"},
		"the header wins where it is odd": {
			"GET",
			[]string{"Authorization", "Basic x", "Cookie", "ps_session=" + adminToken},
			401, "no_token",
		},
		"two cookies beside the header": {"GET", []string{"Cookie", "ps_session=a; ps_session=b"}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.rebuild(func(d *api.Deps) {
				d.PublicURL = "https://jobs.example.org/console"
			})
			body := ""
			if c.method == "POST" {
				body = noop
			}
			a := e.call(c.method, jobs, body, c.headers...).want(c.status)
			if c.code != "" {
				a.wantCode(c.status, c.code)
			}
		})
	}
}

func TestNoRouteChangesAnythingWithoutTheCSRFToken(t *testing.T) {
	e := newEdge(t)
	walked := 0
	for _, r := range e.router.Routes() {
		if r.Permission == permission.Public || r.Method == http.MethodGet {
			continue
		}
		walked++
		e.call(r.Method, address(r), "{}", byCookie(adminToken)...).wantCode(403, "csrf")
		e.call(r.Method, address(r), "{}", byCookie(adminToken, "X-CSRF-Token", csrfOf(adminToken), "Sec-Fetch-Site",
			"cross-site")...).wantCode(403, "csrf")
	}
	require.Greater(t, walked, 30)
	require.Empty(t, e.all())
}

func TestAnotherSiteSignsNobodyIn(t *testing.T) {
	e := newEdge(t)
	body := `{"username":"ann","password":"right","cookie":true}`
	a := e.call("POST", loginPath, body, "Authorization", "", "Sec-Fetch-Site", "cross-site")
	a.wantCode(403, "csrf")
	require.Empty(t, a.header.Get("Set-Cookie"))
	require.Empty(t, e.actions(), "strangers do not fill the audit log")
}

func TestBadAddressesOfCookiesAreRefused(t *testing.T) {
	for _, c := range []struct{ proxy, public string }{
		{proxy: "nonsense"},
		{proxy: "10.0.0.0/99"},
		{public: "://"},
		{public: "no-address"},
	} {
		_, err := middleware.NewCookies(append([]string{}, strings.Fields(c.proxy)...), c.public)
		require.Error(t, err, c)
	}
}
