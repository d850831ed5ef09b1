package httpcall

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/charset"
)

// The bounds of what is read of an answer, in bytes.
const (
	// maxResult bounds the result of the run.
	maxResult = 64 << 10
	// maxRead bounds what is read, and searched for the expected text.
	maxRead = 1 << 20
	chunk   = 16 << 10
)

// cutMark ends a shortened result.
const cutMark = "\n… (cut here)"

// answer is what was read of a response, as UTF-8. maxResult bounds its memory.
type answer struct {
	kept []byte
	// seen counts the bytes of text that were read; longer means that there were more.
	seen    int
	longer  bool
	matched bool
	// sent counts the bytes that came.
	sent counted
	// charset is one that the answer names and that is not known.
	charset string
}

// counted counts the bytes that are read, up to one more than maxRead.
type counted struct {
	from io.Reader
	n    int
}

// Read implements io.Reader.
func (c *counted) Read(buf []byte) (int, error) {
	n, err := c.from.Read(buf)
	c.n += n
	return n, err
}

// read reads the body up to maxRead and looks for a text in it. It leaves the rest unread; to
// close the connection ends the answer. An error means that the body broke off.
func (a *answer) read(response *http.Response, want string) error {
	a.matched = want == ""
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	body := io.LimitReader(a.decoded(response), maxRead+1)
	needle := []byte(want)
	window := make([]byte, 0, len(needle)+chunk)
	for {
		overlap := min(len(window), max(len(needle)-1, 0))
		copy(window, window[len(window)-overlap:])
		n, err := body.Read(window[overlap : overlap+chunk])
		if a.seen+n > maxRead {
			a.longer = true
			n = maxRead - a.seen
		}
		fresh := window[overlap : overlap+n]
		window = window[:overlap+n]
		a.seen += n
		a.kept = append(a.kept, fresh[:min(n, maxResult+1-len(a.kept))]...)
		a.matched = a.matched || bytes.Contains(window, needle)
		if err != nil && a.sent.n > maxRead { // a packed body, of which the rest is not read
			a.longer = true
		}
		switch {
		case a.longer || errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the answer broke off after %d bytes: %w", a.sent.n, err)
		}
	}
}

// decoded is the body as UTF-8: unpacked where the target has packed it with gzip, which nobody asked for, and decoded
// from the charset of its Content-Type.
func (a *answer) decoded(response *http.Response) io.Reader {
	a.sent.from = io.LimitReader(response.Body, maxRead+1)
	body := unpacked(&a.sent, response.Header.Values("Content-Encoding"))
	name := charset.Of(response.Header.Get("Content-Type"))
	if name != "" && !charset.Known(name) {
		a.charset = name
	}
	return charset.Reader(body, name)
}

// cut reports whether the answer is longer than the result of the run.
func (a *answer) cut() bool { return len(a.kept) > maxResult || a.longer }

// text returns the answer as the result of the run: valid text of at most maxResult bytes, with
// a mark when it was cut.
func (a *answer) text() string {
	if !a.cut() {
		return validation.Text(string(a.kept), maxResult)
	}
	return validation.Text(string(a.kept[:min(len(a.kept), maxResult-len(cutMark))]), maxResult-len(cutMark)) + cutMark
}

// scope says that only the beginning was searched, when there was more.
func (a *answer) scope() string {
	if a.longer {
		return fmt.Sprintf(" in its first %d bytes; the rest was not read", maxRead)
	}
	return ""
}

// The bounds of the headers in the log, in bytes.
const (
	maxKeptHeader  = 256
	maxKeptHeaders = 2 << 10
)

// hidden are headers that may hold secrets.
var hidden = map[string]bool{
	"Set-Cookie": true, "Set-Cookie2": true, "Authorization": true, "Proxy-Authenticate": true,
	"Www-Authenticate": true,
}

// headersText returns the headers of an answer as one line, without secrets.
func headersText(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := strings.Join(h[name], ", ")
		if hidden[name] {
			value = "…"
		}
		if name == "Location" || name == "Content-Location" {
			value = secrets.ReplaceAllString(value, "…")
		}
		value = validation.Text(value, maxKeptHeader)
		if b.Len()+len(name)+len(value) > maxKeptHeaders {
			b.WriteString("; …")
			break
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name + ": " + value)
	}
	return b.String()
}
