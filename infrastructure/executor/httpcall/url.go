package httpcall

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// checkURL reads an absolute http or https URL and reports its errors. Messages never repeat
// the URL, which may hold secrets.
func checkURL(r *jobdata.Reader, text string) *url.URL {
	wrong := func(code, message string) *url.URL {
		r.Reject("url", code, "%s", message)
		return nil
	}
	if text == "" {
		if raw, given := r.Raw("url"); !given || string(raw) == `""` {
			wrong("required", "give the URL to call, such as https://example.com/path")
		}
		return nil
	}
	if strings.TrimSpace(text) != text || strings.ContainsFunc(text, isControl) {
		return wrong("invalid", "must not contain control characters or outer spaces")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return wrong("invalid", "is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return wrong("invalid", "must begin with http:// or https://")
	case u.User != nil:
		return wrong("invalid", "must not hold a user name or password; send an Authorization header")
	case u.Hostname() == "":
		return wrong("invalid", "must name a host")
	case !goodPort(u):
		return wrong("invalid", "must have a port between 1 and 65535, or none")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return wrong("invalid", "must not have a fragment (#…), which is never sent; write %23 for the character")
	}
	if template, _, _ := strings.Cut(r.Peek("url"), "?"); placeholder.Holds(template) && climbs(u.EscapedPath()) {
		return wrong("invalid",
			"must not hold . or .. as a part of its path, also not in a value that is put into it: the call would leave "+
				"the path")
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	return u
}

// maxDecodings is how often a path is decoded before it is checked. Each proxy and service on
// the way may decode it once.
const maxDecodings = 4

// climbs reports whether a part of a path is "." or "..". It knows the forms that some services
// read as that: percent-encoded, with \ for /, with a parameter behind a semicolon, or cut at a
// control character.
func climbs(path string) bool {
	for range maxDecodings {
		parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
		if slices.ContainsFunc(parts, func(part string) bool {
			if end := strings.IndexFunc(part, func(r rune) bool { return r == ';' || isControl(r) }); end >= 0 {
				part = part[:end]
			}
			return part == "." || part == ".."
		}) {
			return true
		}
		decoded := encoded.ReplaceAllStringFunc(path, func(c string) string {
			n, _ := strconv.ParseUint(c[1:], 16, 8)
			return string([]byte{byte(n)})
		})
		if decoded == path {
			return false
		}
		path = decoded
	}
	return false
}

// encoded matches what a lenient service decodes.
var encoded = regexp.MustCompile("%[0-9a-fA-F]{2}")

// knownAddress puts a host into a URL whose host is known only when it runs. So the rest can be
// checked when the job is saved. It never changes the URL of a run.
func knownAddress(text string) string {
	if rest, begins := strings.CutPrefix(text, placeholder.Sample); begins {
		return "https://example.com" + strings.TrimPrefix(rest, "://")
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if !strings.Contains(rest[:end], placeholder.Sample) {
		return text
	}
	return scheme + "://example.com" + rest[end:]
}

func goodPort(u *url.URL) bool {
	if strings.HasSuffix(u.Host, ":") {
		return false
	}
	if u.Port() == "" {
		return true
	}
	n, err := strconv.Atoi(u.Port())
	return err == nil && n >= 1 && n <= 65535
}

// escapeQuery escapes characters that may not stand in a request line. The standard library
// sends a query as it is.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) }

// origin returns what a browser would compare: scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
