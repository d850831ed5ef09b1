package httpcall

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// The bounds of headers, in bytes unless the name says otherwise.
const (
	maxHeaders     = 100
	maxHeaderName  = 256
	maxHeaderValue = 8 << 10
)

// runPrefix begins the headers that tell the identity of the run.
const runPrefix = "X-Scheduler-"

// reserved are headers that frame the message or control the connection.
var reserved = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true,
	"Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

// portable are the headers of a definition that may follow a redirect to another origin. All
// others may hold a secret for the first origin.
var portable = map[string]bool{
	"Accept": true, "Accept-Language": true, "Content-Type": true, "User-Agent": true,
}

func checkHeaders(r *jobdata.Reader, headers map[string]string) http.Header {
	if len(headers) > maxHeaders {
		r.Reject("headers", "too_many", "shorten it to at most %d headers; it has %d", maxHeaders, len(headers))
		return nil
	}
	h := make(http.Header, len(headers)+13)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		canonical, value := http.CanonicalHeaderKey(name), headers[name]
		switch {
		case !isToken(name):
			r.Reject("headers", "invalid", "%.40q is not the name of a header", name)
		case reserved[canonical] || strings.HasPrefix(canonical, runPrefix):
			r.Reject("headers."+name, "reserved", "is set by the server and cannot be chosen")
		case h[canonical] != nil:
			r.Reject("headers."+name, "conflict", "is given twice in different cases")
		case len(value) > maxHeaderValue:
			r.Reject("headers."+name, "too_long", "shorten it to at most %d bytes", maxHeaderValue)
		case strings.ContainsFunc(value, func(c rune) bool { return isControl(c) && c != '\t' }):
			r.Reject("headers."+name, "invalid", "must not contain line breaks or other control characters")
		default:
			h[canonical] = []string{value}
		}
	}
	return h
}

// isToken reports whether a string may be the name of a header.
func isToken(s string) bool {
	if s == "" || len(s) > maxHeaderName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~",
			rune(c)) {
			return false
		}
	}
	return true
}
