package httpcall

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
)

const (
	// maxCodings bounds how often an answer may be packed; nobody packs more than twice.
	maxCodings = 4
	// gzipMagic begins what gzip has packed (RFC 1952, 2.3.1).
	gzipMagic = "\x1f\x8b"
)

// unpacked is a body without its codings, which contentEncoding lists in the order in which they were applied
// (RFC 9110, 8.4). Another one than gzip stays, with all before it; so does gzip of a body that is not packed.
func unpacked(body io.Reader, contentEncoding []string) io.Reader {
	codings := strings.Split(strings.ToLower(strings.Join(contentEncoding, ",")), ",")
	packed := 0
	for _, coding := range slices.Backward(codings) {
		switch strings.TrimSpace(coding) {
		case "", "identity":
			continue
		case "gzip", "x-gzip":
		default:
			return body
		}
		if packed++; packed > maxCodings {
			return body
		}
		whole := bufio.NewReaderSize(body, chunk)
		body = whole
		if magic, _ := whole.Peek(len(gzipMagic)); string(magic) != gzipMagic {
			return body // some only say so
		}
		member, err := gzip.NewReader(whole)
		if err != nil {
			return failing{err}
		}
		member.Multistream(false)
		body = &members{from: whole, member: member}
	}
	return body
}

// members are what gzip has packed, one member after the other (RFC 1952, 2.2). All that follows them and is none is
// padding.
type members struct {
	from   *bufio.Reader
	member *gzip.Reader
}

// Read implements io.Reader.
func (m *members) Read(buf []byte) (int, error) {
	for {
		n, err := m.member.Read(buf)
		if n > 0 && errors.Is(err, io.EOF) {
			err = nil
		}
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if magic, _ := m.from.Peek(len(gzipMagic)); string(magic) != gzipMagic {
			return 0, io.EOF
		}
		if err := m.member.Reset(m.from); err != nil {
			return 0, err
		}
		m.member.Multistream(false)
	}
}

// failing is a body that cannot be read.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
