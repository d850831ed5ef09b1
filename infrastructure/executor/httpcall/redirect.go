package httpcall

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxRedirects bounds the redirects of a call.
	maxRedirects = 5
	// maxDrained is how much of an answer that redirects is read, so that its connection can be used again.
	maxDrained = 2 << 10
)

// refusal is a redirect that the call does not follow.
type refusal string

func (r refusal) Error() string { return "refused a redirect " + string(r) }

// redirected is a redirect that the call must not follow, also not on another try: the call may have had its effect, or
// what it needs does not go along.
type redirected string

func (r redirected) Error() string { return string(r) }

// ofContent are headers that describe a body, and go with it (RFC 9110, 15.4).
var ofContent = []string{
	"Content-Type",
	"Content-Encoding",
	"Content-Language",
	"Content-Location",
	"Content-Digest",
	"Digest",
	"Last-Modified",
}

// send sends a request and follows the redirects of its answers. With an error of the type redirected there is an
// answer, too. Of the others it has closed the answer.
func (a *attempt) send(transport http.RoundTripper, request *http.Request) (*http.Response, error) {
	made := []*http.Request{request}
	for {
		a.sent = made[len(made)-1]
		response, err := transport.RoundTrip(a.sent)
		if err != nil {
			return nil, err
		}
		next, err := a.follow(made, response)
		if errors.As(err, new(redirected)) || err == nil && next == nil {
			return response, err
		}
		_, _ = io.CopyN(io.Discard, response.Body, maxDrained)
		_ = response.Body.Close()
		if err != nil {
			a.status = response.StatusCode
			return nil, err
		}
		a.hops = append(a.hops, sentText(a.sent)+": "+statusText(response.StatusCode))
		made = append(made, next)
	}
}

// follow makes the next request of an answer, or none where the answer is the last. 303 is followed as GET (HEAD stays
// HEAD), 307 and 308 repeat method and body, and so do 301 and 302 of GET and HEAD (RFC 9110, 15.4). An expected status
// of 3xx is the answer itself.
func (a *attempt) follow(made []*http.Request, response *http.Response) (*http.Request, error) {
	last := made[len(made)-1]
	status, method, location := response.StatusCode, last.Method, response.Header.Get("Location")
	to, err := last.URL.Parse(location)
	if location == "" {
		to = nil
	}
	switch {
	case a.call.expected.has(status):
		return nil, nil
	case status == http.StatusMovedPermanently || status == http.StatusFound:
		if method != http.MethodGet && method != http.MethodHead {
			return nil, redirected(fmt.Sprintf("the target answered %s%s: a %s is not sent there, because it may have had its "+
				"effect already; set url to the new address, or expectedStatus to %d, which takes the redirect as the answer",
				statusText(status), shownLocation(to), method, status))
		}
	case status == http.StatusSeeOther && method != http.MethodHead:
		method = http.MethodGet
	case status != http.StatusSeeOther && status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		return nil, nil
	}
	switch {
	case err != nil:
		return nil, refusal("to what is no URL")
	case to == nil:
		return nil, nil
	}
	next, err := http.NewRequestWithContext(last.Context(), method, to.String(), http.NoBody)
	if err != nil {
		return nil, refusal("to what is no URL")
	}
	next.URL, next.Header, next.Response = to, last.Header.Clone(), response
	switch {
	case method != last.Method: // its body is gone, and what described it
		for _, name := range ofContent {
			next.Header.Del(name)
		}
	case last.GetBody != nil && last.ContentLength > 0:
		next.GetBody, next.ContentLength = last.GetBody, last.ContentLength
		if next.Body, err = last.GetBody(); err != nil {
			return nil, err
		}
	}
	return next, a.mayFollow(made, next)
}

// mayFollow decides whether a redirect is safe to follow. Headers of the job that may hold secrets do not follow to
// another origin, also not on the way back.
func (a *attempt) mayFollow(made []*http.Request, next *http.Request) error {
	last, away := made[len(made)-1], left(made, next)
	switch {
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
	case a.call.credentials != nil && away:
		return refusal("to another origin, for which the client certificate is not meant")
	case away && a.token != "" && next.Method == made[0].Method:
		return redirected(
			fmt.Sprintf("the target answered %s%s: it cannot report the end of the run there, because the run token is not "+
				"sent to another origin; set url to the new address", statusText(next.Response.StatusCode),
				shownLocation(next.URL)),
		)
	case away && a.call.secretBody && next.ContentLength > 0:
		return redirected(
			fmt.Sprintf("the target answered %s%s: a body that may hold a secret is not sent to another "+
				"origin; set url to the new address", statusText(next.Response.StatusCode), shownLocation(next.URL)),
		)
	}
	next.URL.Fragment, next.URL.RawFragment = "", ""
	next.URL.RawQuery = escapeQuery(next.URL.RawQuery)
	if away {
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

// shownLocation names where a redirect leads, if that can be told. A query may hold secrets and is left out.
func shownLocation(to *url.URL) string {
	if to == nil || to.Host == "" {
		return ""
	}
	query := ""
	if to.RawQuery != "" {
		query = "?…"
	}
	return " with the address " + addressText(to) + query
}

// sentText is a request as the log names it.
func sentText(r *http.Request) string { return r.Method + " " + addressText(r.URL) }

// addressText is a URL without its query and user, which may hold secrets.
func addressText(u *url.URL) string {
	return fmt.Sprintf("%s://%s%s", u.Scheme, u.Host, u.EscapedPath())
}
