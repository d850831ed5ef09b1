package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// formsOf are the texts that give a value away: itself, in hexadecimal and in
// base64. Escaped forms are not among them, since texts are looked at
// without their escapes, too.
func formsOf(value string) []string {
	lower := hex.EncodeToString([]byte(value))
	forms := []string{value, strings.TrimSpace(value), lower, strings.ToUpper(lower)}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encodings(encoding, value)...)
	}
	return forms
}

// linesOf are the lines of a value that has several: logs are made of lines.
func linesOf(value string) []string {
	if !strings.ContainsAny(value, "\r\n") {
		return nil
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\r' || r == '\n' }) {
		lines = append(lines, line, strings.TrimSpace(line))
	}
	return lines
}

// encodings are what of the base64 of a longer text surely comes from a value
// inside it, for each of the three places in a group where it may begin.
func encodings(encoding *base64.Encoding, value string) []string {
	var out []string
	for before := range 3 {
		whole := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", before) + value))
		bits := 8 * (before + len(value))
		// The characters that hold bits of the value alone.
		first, last := (8*before+5)/6, bits/6
		if last > first {
			out = append(out, whole[first:last])
		}
	}
	return out
}
