// Package console serves the files of the console: a page of one build, and what it loads.
package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
)

// The files of a build.
const (
	// indexName is the page that every address of the console shows.
	indexName = "index.html"
	// assetsDir holds what never changes under its name: names hold a hash of the content.
	assetsDir = "assets"
	// nonceMark stands in the page where the nonce of an answer comes.
	nonceMark = "__CSP_NONCE__"
)

// encodings are the forms of a file beside it, the smallest first.
var encodings = []encoding{{"br", ".br"}, {"gzip", ".gz"}, {"", ""}}

// encoding is a value of Content-Encoding, and what the names of such files end in.
type encoding struct{ name, ending string }

// Site holds the names of one build, and its page. It is immutable and safe for concurrent
// use.
type Site struct {
	files fs.FS
	// page is the page, cut where the nonce comes.
	page [][]byte
	// known are the files by their paths in the build, without the page.
	known map[string]file
}

// file is what is said of a file, and its forms by their encodings.
type file struct {
	mediaType string
	forms     map[string]form
}

// form is one file of the build.
type form struct {
	path, etag string
	size       int64
}

// New reads a build, whose root holds the page. It fails without a page.
func New(files fs.FS) (*Site, error) {
	page, err := fs.ReadFile(files, indexName)
	if err != nil {
		return nil, fmt.Errorf("read the page of the console: %w", err)
	}
	s := NewPage(page)
	s.files = files
	for _, dir := range []string{".", assetsDir} {
		if err := s.read(dir); err != nil {
			return nil, fmt.Errorf("read the files of the console: %w", err)
		}
	}
	return s, nil
}

// NewPage is a site of one page without files, for programs that hold no build.
func NewPage(page []byte) *Site {
	return &Site{page: bytes.Split(page, []byte(nonceMark)), known: map[string]file{}}
}

// read takes up the files of one folder.
func (s *Site) read(dir string) error {
	entries, err := fs.ReadDir(s.files, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = e.Type().IsRegular()
	}
	for name, regular := range names {
		ending := path.Ext(name)
		compressed := ending == ".br" || ending == ".gz"
		if !regular || compressed || strings.HasPrefix(name, ".") || dir == "." && name == indexName {
			continue
		}
		if !middleware.HarmlessID(name) {
			return fmt.Errorf("the name %q cannot stand in an address: use up to 64 letters, digits and -_. alone", name)
		}
		whole := path.Join(dir, name)
		f := file{mediaType: mediaType(ending), forms: map[string]form{}}
		for _, e := range encodings {
			if !names[name+e.ending] {
				continue
			}
			if f.forms[e.name], err = s.form(whole + e.ending); err != nil {
				return err
			}
		}
		s.known[whole] = f
	}
	return nil
}

// form reads one file and keeps no copy of it.
func (s *Site) form(name string) (f form, err error) {
	opened, err := s.files.Open(name)
	if err != nil {
		return form{}, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	hash := sha256.New()
	size, err := io.Copy(hash, opened)
	return form{path: name, size: size, etag: `"` + hex.EncodeToString(hash.Sum(nil)[:16]) + `"`}, err
}

// smallest returns the smallest form that a caller takes. The file as it is comes where no
// encoding suits.
func (f file) smallest(accepted string) (form, string) {
	for _, e := range encodings {
		if found, there := f.forms[e.name]; there && (e.name == "" || accepts(accepted, e.name)) {
			return found, e.name
		}
	}
	return f.forms[""], ""
}

// varies reports whether callers get different forms.
func (f file) varies() bool { return len(f.forms) > 1 }

// mediaType returns the type of files by the end of their names. The table of the machine
// is not asked: the same build is served alike everywhere.
func mediaType(ending string) string {
	switch ending {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".json", ".map":
		return "application/json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// Names lists the files of the build but the page, in order.
func (s *Site) Names() []string {
	names := make([]string, 0, len(s.known))
	for name := range s.known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
