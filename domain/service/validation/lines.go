package validation

import (
	"iter"
	"strings"
)

// Replaced ends a line of a log that ended by a carriage return alone: the next line of its
// stream takes its place, as on a terminal.
const Replaced = "\r"

// Lines yields the lines of a text for a log, without their ends: a line feed, a carriage
// return, or both. returned means that a line ended by carriage returns alone. A text without
// an end of a line is one line.
func Lines(text string) iter.Seq2[string, bool] {
	return func(yield func(line string, returned bool) bool) {
		for {
			at := strings.IndexAny(text, "\r\n")
			if at < 0 {
				yield(text, false)
				return
			}
			line, end := text[:at], text[at:]
			rest := strings.TrimLeft(end, "\r")
			returned := rest == "" || rest[0] != '\n'
			if !returned {
				rest = rest[1:]
			}
			if !yield(line, returned) || rest == "" {
				return
			}
			text = rest
		}
	}
}

// Shown are the lines of some texts of one stream without those that others replace. The last
// one may end in Replaced.
func Shown(texts []string) []string {
	var out []string
	returned := false
	for _, text := range texts {
		for line, again := range Lines(text) {
			switch {
			case again && line == "": // only the cursor moves
				continue
			case returned && line == "": // it ends the line that is there
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], Replaced)
			case returned:
				out[len(out)-1] = line
			default:
				out = append(out, line)
			}
			if returned = again; again {
				out[len(out)-1] += Replaced
			}
		}
	}
	return out
}
