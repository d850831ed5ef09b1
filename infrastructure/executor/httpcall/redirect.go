package httpcall

import (
	"fmt"
	"net/http"
	"strings"
)

// maxRedirects bounds the redirects of a call.
const maxRedirects = 5

// refusal is a redirect that the call does not follow.
type refusal string

func (r refusal) Error() string { return "refused a redirect " + string(r) }

// redirect decides whether the client makes the next hop. An expected status of 3xx is the
// answer itself. Headers of the job that may hold secrets do not follow to another origin, also
// not on the way back.
func (a *attempt) redirect(next *http.Request, made []*http.Request) error {
	last := made[len(made)-1]
	switch {
	case a.call.expected.has(next.Response.StatusCode):
		return http.ErrUseLastResponse
	case len(made) > maxRedirects:
		return refusal(fmt.Sprintf("after %d others", maxRedirects))
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return refusal("to what is neither http nor https")
	case last.URL.Scheme == "https" && next.URL.Scheme == "http":
		return refusal("from https to http")
	case next.URL.User != nil:
		return refusal("to a URL with a user name or password")
	case next.URL.Hostname() == "" || !goodPort(next.URL):
		return refusal("to a URL without a good host and port")
	case a.call.credentials != nil && left(made, next):
		return refusal("to another origin, for which the client certificate is not meant")
	}
	a.redirects++
	next.URL.RawQuery = escapeQuery(next.URL.RawQuery)
	// The address of the former hop may hold secrets in its query.
	next.Header.Del("Referer")
	if left(made, next) {
		for _, name := range confidential {
			next.Header.Del(name)
		}
		for name := range next.Header {
			if !portable[name] && !strings.HasPrefix(name, runPrefix) {
				next.Header.Del(name)
			}
		}
	}
	return nil
}

// left reports whether any hop has another origin than the first. A change of a host from http
// to https does not count when each uses its own port.
func left(made []*http.Request, next *http.Request) bool {
	home := made[0].URL
	for _, hop := range append(made[1:len(made):len(made)], next) {
		secured := *hop.URL
		if home.Scheme == "http" && secured.Scheme == "https" && secured.Port() == "" && home.Port() == "" {
			secured.Scheme = "http"
		}
		if origin(&secured) != origin(home) {
			return true
		}
	}
	return false
}
