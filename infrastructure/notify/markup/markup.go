// Package markup makes texts from outside harmless in the messages of each channel. Names, errors
// and labels of jobs may come from anybody: they must not call people, nor fake links or headings.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark ends a text that was cut.
const mark = "…"

// Clean replaces what a text must not hold in any channel: broken UTF-8, control characters but
// line breaks and tabs, and invisible characters that reorder what people see.
func Clean(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			return '\n'
		case unicode.IsControl(r):
			return utf8.RuneError
		case Reorders(r):
			return utf8.RuneError
		default:
			return r
		}
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Reorders reports whether a character is invisible and changes the order of others, or hides.
func Reorders(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	case r == 0x200b, r == 0x2060, r == 0xfeff, r == 0x00ad, r >= 0xe0000 && r <= 0xe007f:
		return true
	default:
		return false
	}
}

// Line is Clean for texts of one line: line breaks and tabs become spaces.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, Clean(s))
}

// Unit measures a text the way a service does.
type Unit func(r rune) int

// Bytes counts bytes of UTF-8.
func Bytes(r rune) int { return utf8.RuneLen(r) }

// Runes counts characters.
func Runes(rune) int { return 1 }

// UTF16 counts units of UTF-16, as Telegram does.
func UTF16(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Cut returns the text with at most that many units. A cut text ends in an ellipsis, which counts.
// A most of less than the mark gives "".
func Cut(s string, most int, unit Unit) string {
	size, fits := 0, -1
	room := most
	for _, r := range mark {
		room -= unit(r)
	}
	if room < 0 {
		if s == "" || measure(s, unit) > most {
			return ""
		}
		return s
	}
	for i, r := range s {
		if size <= room {
			fits = i
		}
		size += unit(r)
		if size > most {
			return s[:fits] + mark
		}
	}
	return s
}

func measure(s string, unit Unit) int {
	n := 0
	for _, r := range s {
		n += unit(r)
	}
	return n
}
