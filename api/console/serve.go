package console

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
)

const (
	// pagePolicy is the Content-Security-Policy of the page, but for the nonce. Styles that
	// the editor of scripts makes bear the nonce.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data:; " +
		"font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
	// filePolicy is that of other files. A script that runs as a worker has its own.
	filePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; " +
		"base-uri 'none'; form-action 'none'"
	// keepForYears is for files whose names hold a hash of their content.
	keepForYears = "public, max-age=31536000, immutable"
	// askAgain is for files that may change under their names.
	askAgain = "no-cache"
	// maxAddress bounds an address of the console, in bytes.
	maxAddress = 2048
)

// Page answers GET and HEAD of / and of every other address of the console. Each answer has
// a nonce of its own, so that nobody may keep it.
func (s *Site) Page(c *gin.Context) error {
	if s == nil {
		return middleware.NoSuchRoute(c)
	}
	nonce := rand.Text()
	body := bytes.Join(s.page, []byte(nonce))
	c.Header("Content-Security-Policy", fmt.Sprintf(pagePolicy, nonce))
	c.Header("Content-Type", "text/html; charset=utf-8")
	c.Header("Cache-Control", "no-store")
	send(c, int64(len(body)), bytes.NewReader(body))
	return nil
}

// Asset answers GET and HEAD of /assets/{file}.
func (s *Site) Asset(c *gin.Context) error {
	if s == nil {
		return middleware.NoSuchRoute(c)
	}
	return s.serve(c, assetsDir+"/"+c.Param("file"), keepForYears)
}

// Other answers what is no route: a file beside the page, or the page itself where a
// browser goes to an address of the console. Everything else is not found.
func (s *Site) Other(c *gin.Context) error {
	address := strings.TrimPrefix(c.Request.URL.Path, "/")
	method := c.Request.Method
	if s == nil || method != http.MethodGet && method != http.MethodHead || !harmless(address) {
		return middleware.NoSuchRoute(c)
	}
	if _, there := s.known[address]; there && !strings.Contains(address, "/") {
		return s.serve(c, address, askAgain)
	}
	if reserved(address) || !acceptsPage(c.GetHeader("Accept")) {
		return middleware.NoSuchRoute(c)
	}
	return s.Page(c)
}

// serve sends a file of the build.
func (s *Site) serve(c *gin.Context, name, caching string) error {
	f, known := s.known[name]
	if !known {
		return middleware.NoSuchRoute(c)
	}
	found, encoded := f.smallest(strings.Join(c.Request.Header.Values("Accept-Encoding"), ","))
	c.Header("Content-Security-Policy", filePolicy)
	c.Header("Cache-Control", caching)
	c.Header("ETag", found.etag)
	if f.varies() {
		c.Header("Vary", "Accept-Encoding")
	}
	if matches(strings.Join(c.Request.Header.Values("If-None-Match"), ","), found.etag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	opened, err := s.files.Open(found.path)
	if err != nil {
		return fmt.Errorf("open a file of the console: %w", err)
	}
	defer func() { _ = opened.Close() }()
	c.Header("Content-Type", f.mediaType)
	if encoded != "" {
		c.Header("Content-Encoding", encoded)
	}
	send(c, found.size, opened)
	return nil
}

// send writes a body; a caller who is gone is no failure of ours.
func send(c *gin.Context, size int64, body io.Reader) {
	c.Header("Content-Length", strconv.FormatInt(size, 10))
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	if c.Request.Method != http.MethodHead {
		_, _ = io.Copy(c.Writer, body)
	}
}

// reserved reports whether an address is of something else than the console, so that a
// wrong address there shows no page.
func reserved(address string) bool {
	first, _, _ := strings.Cut(address, "/")
	switch strings.ToLower(first) {
	case "api", "internal", "swagger", assetsDir, "metrics", "healthz", "readyz", "version", "openapi.json", "debug":
		return true
	}
	return false
}

// harmless reports whether an address is one that the console makes: it climbs nowhere and
// holds nothing that is unseen.
func harmless(address string) bool {
	if len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\\' || r == '\uFFFD'
	}) {
		return false
	}
	for part := range strings.SplitSeq(address, "/") {
		if part == "." || part == ".." {
			return false
		}
	}
	// Two slashes begin the address of another host.
	return !strings.HasPrefix(address, "/")
}
