package charset

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// marks are the byte order marks, and what they say of the text behind them. They win over each name, as the standard
// has it (https://encoding.spec.whatwg.org/#decode).
var marks = []struct {
	bytes string
	of    encoding.Encoding
}{
	{"\xef\xbb\xbf", unicode.UTF8},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// Reader makes UTF-8 of a text in the encoding of that name, where "" and a name that is not known stand for UTF-8. A
// byte order mark at its begin is left out, and wins over the name. Bytes that mean nothing become U+FFFD; those of
// UTF-8 stay as they are.
func Reader(r io.Reader, name string) io.Reader {
	of := named(name)
	if of == nil {
		of = unicode.UTF8
	}
	return &marked{from: r, of: of}
}

// marked reads a text that may begin with a byte order mark. It waits for no more than it needs to see that none comes:
// a prompt may be one character.
type marked struct {
	from io.Reader
	// of is the encoding that the name says.
	of encoding.Encoding
	// text is the text, once it is known how it begins.
	text io.Reader
}

// Read implements io.Reader.
func (m *marked) Read(buf []byte) (int, error) {
	if m.text == nil {
		m.begin()
	}
	return m.text.Read(buf)
}

// begin reads up to where it is clear whether a mark comes.
func (m *marked) begin() {
	var head []byte
	for one := make([]byte, 1); ; {
		n, err := m.from.Read(one)
		head = append(head, one[:n]...)
		of, open := markOf(string(head))
		if of != nil {
			m.of, head, open = of, nil, false
		}
		if open && err == nil {
			continue
		}
		m.text = io.MultiReader(bytes.NewReader(head), &behind{m.from, err})
		if m.of != unicode.UTF8 {
			m.text = transform.NewReader(m.text, m.of.NewDecoder())
		}
		return
	}
}

// markOf is what a byte order mark says; open means that bytes may become one.
func markOf(head string) (of encoding.Encoding, open bool) {
	for _, mark := range marks {
		if head == mark.bytes {
			return mark.of, false
		}
		open = open || strings.HasPrefix(mark.bytes, head)
	}
	return nil, open
}

// behind is the rest of a text, of which a read may have failed.
type behind struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (b *behind) Read(buf []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.from.Read(buf)
}
