// Package charset reads texts that are not UTF-8. Names of encodings are the labels of the WHATWG Encoding Standard
// (https://encoding.spec.whatwg.org/#names-and-labels), such as gbk, latin1 or utf-16le, or else names that IANA has
// registered (https://www.iana.org/assignments/character-sets), such as cp936 or ibm437.
package charset

import (
	"mime"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// MaxName bounds the name of an encoding, in bytes.
const MaxName = 40

// Known reports whether a name is that of an encoding.
func Known(name string) bool { return named(name) != nil }

// named is the encoding of a name; nil where nobody knows it. The standard has browsers read some encodings as one
// U+FFFD, for their safety alone: these are read as IANA names them.
func named(name string) encoding.Encoding {
	if e, err := htmlindex.Get(name); err == nil && e != encoding.Replacement {
		return e
	}
	if e, err := ianaindex.IANA.Encoding(name); err == nil && e != nil {
		return e
	}
	return nil
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
