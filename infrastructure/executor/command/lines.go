package command

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

const (
	// maxLine is the longest line that is passed on, in bytes. The rest of a longer line is
	// skipped, so that a stream without line breaks needs no memory.
	maxLine = 8 << 10
	// maxSkip is how much longer a line may be. A longer one is no text, but the output of a
	// program that writes a file.
	maxSkip = 16 << 20
	// cutMark ends a line that was cut, as validation.LogLine ends it.
	cutMark = "…"
)

// errNoText ends the reading of lines from output that has none.
var errNoText = errors.New("a line without an end")

// lines cuts output into lines. They end at a line feed, a carriage return, or both, wherever
// the reads cut the output. A line that ended by a carriage return alone is replaced by the
// next one, as a terminal shows it.
type lines struct {
	// line is the beginning of the current line, at most maxLine bytes of it; skipped counts
	// the bytes behind that.
	line    []byte
	skipped int
	// returned means that a carriage return ended the line. A line feed may still follow.
	returned bool
}

// feed calls take with each line that ends in data. It fails with errNoText when more than
// maxSkip bytes of a line were skipped.
func (l *lines) feed(data []byte, take func(line []byte)) error {
	for len(data) > 0 {
		if l.returned {
			if data = bytes.TrimLeft(data, "\r"); len(data) == 0 {
				return nil
			}
			if data[0] != '\n' {
				l.begin()
			}
		}
		end := bytes.IndexAny(data, "\r\n")
		if end < 0 {
			l.add(data)
			end = len(data)
		} else {
			l.add(data[:end])
		}
		switch {
		case l.skipped > maxSkip:
			return errNoText
		case end == len(data):
			return nil
		case data[end] == '\n':
			take(l.text())
			l.begin()
		default:
			l.returned = len(l.line) > 0
		}
		data = data[end+1:]
	}
	return nil
}

func (l *lines) add(part []byte) {
	room := min(maxLine-len(l.line), len(part))
	l.line = append(l.line, part[:room]...)
	l.skipped += len(part) - room
}

// begin begins the next line.
func (l *lines) begin() { l.line, l.skipped, l.returned = l.line[:0], 0, false }

// text is the current line so far. One that was cut holds whole characters, and the mark.
func (l *lines) text() []byte {
	if l.skipped == 0 {
		return l.line
	}
	end := maxLine - len(cutMark)
	for back := 1; back < utf8.UTFMax && !utf8.RuneStart(l.line[end]); back++ {
		end--
	}
	return append(l.line[:end:end], cutMark...)
}
