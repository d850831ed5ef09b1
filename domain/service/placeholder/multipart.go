package placeholder

import "strings"

// multipart is a place in a body of several parts, each with headers of its own.
type multipart struct {
	delimiter string
	// line is the current line, with the values in it.
	line strings.Builder
	// head: it belongs to the headers of a part.
	head bool
	// own is how often the text itself has the delimiter.
	own int
}

func newMultipart(boundary string) *multipart { return &multipart{delimiter: "--" + boundary} }

func (m *multipart) plain(text string) error {
	m.own += strings.Count(text, m.delimiter)
	m.follow(text)
	return nil
}

// follow reads on, line by line.
func (m *multipart) follow(text string) {
	for {
		line, rest, ended := strings.Cut(text, "\n")
		m.line.WriteString(line)
		if !ended {
			return
		}
		switch strings.TrimRight(m.line.String(), " \t\r") {
		case m.delimiter:
			m.head = true
		case "":
			m.head = false
		}
		m.line.Reset()
		text = rest
	}
}

// inHeader replaces what would end a name or a line there, as browsers do. Many readers take a backslash before a quote
// for its escape (RFC 2045), so that one at the end would let the name go on.
var inHeader = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22", `\`, "%5C")

const holdsBoundary = "a value holds the boundary of the parts: set another boundary in the header Content-Type"

func (m *multipart) value(v value) (string, error) {
	text := v.text
	if strings.Contains(text, m.delimiter) {
		return "", wrong(holdsBoundary)
	}
	if m.head {
		text = inHeader.Replace(text)
	}
	m.follow(text)
	return text, nil
}

// end refuses values that make another part with what stands beside them. A boundary that is made of
// placeholders itself stands nowhere in the text.
func (m *multipart) end(result string) error {
	if m.own > 0 && strings.Count(result, m.delimiter) > m.own {
		return wrong(holdsBoundary)
	}
	return nil
}
