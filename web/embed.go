// Package web holds the console as files: what Vite builds of web/src, and a page that
// stands in for it where it was not built.
package web

import (
	"embed"
	"io/fs"
)

// The built console. A clean clone holds .gitkeep alone, so that Go compiles without Node.
//
//go:embed all:dist
var dist embed.FS

// Placeholder is the page that is served where the console was not built. It says how
// to build it.
//
//go:embed placeholder.html
var Placeholder []byte

// Files returns the built console, and whether there is one. Its root holds index.html, in
// which __CSP_NONCE__ stands for the nonce of an answer, and assets/. Names of files in
// assets carry a hash of their content. Beside each text of at least 1 KiB lie the same
// bytes compressed, as NAME.br and NAME.gz, except index.html, which changes with each answer.
// It is safe for concurrent use.
func Files() (fs.FS, bool) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, false
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, false
	}
	return files, true
}
