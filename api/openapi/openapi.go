// Package openapi holds the document of the REST API and the page that shows
// it. `make docs` writes the document. Nothing here is read from the network.
package openapi

import (
	"embed"
	"mime"
	"path"
)

//go:generate go test -count=1 -run ^TestTheDocumentsAreCurrent$ . -update

//go:embed openapi.json ui
var files embed.FS

// Policy is the Content-Security-Policy of the page: its own scripts and
// styles, and calls of this server.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Former is the address of the document in former releases. It answers for one more.
const Former = "/swagger/doc.json"

// Deprecated is since when Former is deprecated, as the header of RFC 9745 says it: 2026-11-23.
const Deprecated = "@1795392000"

// Paths maps the addresses that are served to the names of files.
func Paths() map[string]string {
	return map[string]string{
		"/openapi.json":                 "openapi.json",
		Former:                          "openapi.json",
		"/swagger/index.html":           "ui/index.html",
		"/swagger/initializer.js":       "ui/initializer.js",
		"/swagger/swagger-ui.css":       "ui/swagger-ui.css",
		"/swagger/swagger-ui-bundle.js": "ui/swagger-ui-bundle.js",
	}
}

// Read returns a file by its name, and its media type. The bytes are the
// caller's own.
func Read(name string) (content []byte, mediaType string, err error) {
	content, err = files.ReadFile(name)
	return content, mime.TypeByExtension(path.Ext(name)), err
}
