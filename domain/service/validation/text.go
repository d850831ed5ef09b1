package validation

import (
	"strings"
	"unicode/utf8"
)

const (
	// cutMark ends a text that was cut.
	cutMark = "…"
	// substitute stands for what cannot be stored or shown.
	substitute = string(utf8.RuneError)
	// escape begins a sequence for terminals. longestColour bounds one that chooses colours, in bytes: two of 24 bits,
	// with attributes, take 45.
	escape        = '\x1b'
	longestColour = 64
)

// Text makes a string from outside safe for any column. The result is valid UTF-8 without
// control characters, which become U+FFFD, has \n for every line break, and is no longer
// than the bound in bytes. A cut text ends in an ellipsis, which counts. It is cleaned
// before it joins a batch, so that one text cannot fail 500 rows (engine rule 10).
// Cleaning twice changes nothing; a clean text is returned as it is. A limit of 0 or less
// gives "".
func Text(s string, maxBytes int) string { return clean(s, maxBytes, false) }

// LogLine is Text for a line of a log: it keeps the sequences that choose colours (ECMA-48 SGR, ESC [ … m), as a
// program writes them for its readers. None of them moves a cursor or asks a terminal for anything.
func LogLine(s string, maxBytes int) string { return clean(s, maxBytes, true) }

func clean(s string, maxBytes int, colours bool) string {
	if maxBytes <= 0 {
		return ""
	}
	if len(s) <= maxBytes && validText(s) && !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	b.Grow(min(len(s), maxBytes))
	fits := 0 // length up to which the mark still has room
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		switch {
		case r == escape && colours && colourSize(s[i:]) > 0:
			size = colourSize(s[i:])
			piece = s[i : i+size]
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			i += size
			continue
		case r == '\r':
			piece = "\n"
		case r == utf8.RuneError || harmful(r):
			piece = substitute
		}
		if b.Len()+len(piece) > maxBytes {
			return b.String()[:fits] + mark(maxBytes)
		}
		b.WriteString(piece)
		if b.Len()+len(cutMark) <= maxBytes {
			fits = b.Len()
		}
		i += size
	}
	return b.String()
}

// colourSize is the length of the sequence of colours that a text begins with; 0: it begins with none.
func colourSize(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < longestColour; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func mark(maxBytes int) string {
	if maxBytes < len(cutMark) {
		return ""
	}
	return cutMark
}
