// Package charset reads texts that are not UTF-8. Names of encodings are the labels of the WHATWG Encoding Standard
// (https://encoding.spec.whatwg.org/#names-and-labels), such as gbk, latin1 or utf-16le.
package charset

import (
	"io"
	"mime"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// MaxName bounds the name of an encoding, in bytes.
const MaxName = 40

// Known reports whether a name is that of an encoding.
func Known(name string) bool {
	_, err := htmlindex.Get(name)
	return err == nil
}

// Reader makes UTF-8 of a text in the encoding of that name. A byte order mark at its begin wins over the name. Bytes
// that mean nothing become U+FFFD. Of UTF-8, and of a name that is not known, it returns r itself.
func Reader(r io.Reader, name string) io.Reader {
	encoding, err := htmlindex.Get(name)
	if err != nil || encoding == unicode.UTF8 {
		return r
	}
	return transform.NewReader(r, unicode.BOMOverride(encoding.NewDecoder()))
}

// loose finds a charset where the parameters as a whole cannot be read.
var loose = regexp.MustCompile(`(?i);\s*charset\s*=\s*["']?([^\s;"']+)`)

// Of is the charset of a Content-Type (RFC 9110, 8.3.2), or "" where it names none.
func Of(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err == nil {
		return strings.Trim(params["charset"], "' ")
	}
	if found := loose.FindStringSubmatch(contentType); found != nil {
		return found[1]
	}
	return ""
}
