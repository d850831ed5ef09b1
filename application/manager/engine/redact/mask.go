package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Hidden stands where a secret was.
const Hidden = "***"

// The bounds of what is looked for, in bytes.
const (
	// shortest is the shortest text that is hidden: of a secret, of a line of
	// one, and of a piece of one at the edge of a line.
	shortest = 6
	// shortestPiece is the shortest line that is hidden because it is a piece out
	// of the middle of a form: of a value that was folded, or of its base64.
	shortestPiece = 12
	// keyBytes is how much of a pattern decides whether it is one. The text
	// that follows is hidden as far as it is equal, so that a look at a long secret costs no
	// more than one at a short one.
	keyBytes = 64
	// longestTail bounds the ends of forms that are looked for at the beginning
	// of a line.
	longestTail = 256
	// allForms bounds the values of one run, in total, that are looked for in
	// every form. Secrets that exceed it, the longest first, are hidden as they are.
	allForms = 256 << 10
)

// mask replaces the values of secrets, as they are and as programs commonly
// write them (see formsOf), and what only looks different because of escapes:
// in JSON and in URLs. A program that changes a value in another way before it
// prints it is not found out. The work grows with the length of a text, whatever
// stands in it. A mask is immutable and safe for concurrent use.
type mask struct {
	patterns patterns
	// forms are searched for pieces.
	forms []string
	// tails are the beginnings of all ends of forms, pieces those of all pieces.
	tails, pieces grams
	// lined: a pattern spans lines. spaced: a value holds a space, which a query
	// writes as a plus.
	lined, spaced bool
}

// newMask takes the values of secrets, and sorts them.
func newMask(values []string) *mask {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	m := &mask{}
	var whole []string
	total, size := 0, 0
	for _, value := range values {
		m.spaced = m.spaced || strings.Contains(value, " ")
		forms := []string{value}
		if total += len(value); total <= allForms {
			forms = formsOf(value)
		}
		whole = append(append(whole, forms...), linesOf(value)...)
		for _, form := range forms {
			m.forms = append(m.forms, form)
			size += len(form)
		}
	}
	m.forms = longEnough(m.forms)
	m.patterns = newPatterns(longEnough(whole))
	m.lined = slices.ContainsFunc(m.patterns.list, func(p pattern) bool { return strings.Contains(p.key, "\n") })
	m.tails, m.pieces = newGrams(min(size, len(m.forms)*longestTail)), newGrams(size)
	for _, form := range m.forms {
		for i := max(0, len(form)-longestTail); i+shortest <= len(form); i++ {
			m.tails.add(gram(form, i))
		}
		for i := 0; i+shortestPiece <= len(form); i++ {
			m.pieces.add(wideGram(form, i))
		}
	}
	return m
}

// longEnough are the texts that are looked for, each once.
func longEnough(texts []string) []string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return len(text) < shortest })
	slices.Sort(texts)
	return slices.Compact(texts)
}

// hide replaces the secrets in a text.
func (m *mask) hide(text string) string {
	if text == "" {
		return text
	}
	var found ranges
	for _, v := range m.views(text) {
		if m.lined && strings.Contains(v.text, "\n") {
			m.search(v.text, 0, v.found(&found))
		}
		for from := 0; from < len(v.text); {
			to := len(v.text)
			if end := strings.IndexAny(v.text[from:], "\r\n"); end >= 0 { // as lines of a log end
				to = from + end + 1
			}
			m.line(v.text[from:to], from, v.found(&found))
			from = to
		}
	}
	return found.replace(text)
}

// line looks at one line; emit takes what it finds, moved by from.
func (m *mask) line(line string, from int, emit func(from, to int)) {
	// What was cut may have been cut inside a secret.
	line = strings.TrimSuffix(strings.TrimRight(line, "\r\n"), "…")
	m.search(line, from, emit)
	bare := strings.TrimSpace(line)
	from += strings.Index(line, bare)
	if len(bare) >= shortest && m.tails.has(gram(bare, 0)) {
		emit(from, from+m.tail(bare))
	}
	if len(bare) < shortestPiece || !m.pieces.has(wideGram(bare, 0)) {
		return
	}
	if slices.ContainsFunc(m.forms, func(form string) bool { return strings.Contains(form, bare) }) {
		emit(from, from+len(bare))
	}
}

// search finds patterns, and the beginning of one at the end of the text: what
// is cut to a bound may be cut inside a secret.
func (m *mask) search(text string, from int, emit func(from, to int)) {
	for i := 0; i+shortest <= len(text); i++ {
		if !m.patterns.heads.has(gram(text, i)) {
			continue
		}
		n := m.patterns.at(text[i:])
		if n == 0 {
			continue
		}
		emit(from+i, from+i+n)
		if n > keyBytes {
			i += n - 1
		}
	}
}

// tail is how much of the beginning of a line is the end of a form.
func (m *mask) tail(line string) int {
	longest := 0
	for _, form := range m.forms {
		end := form[max(0, len(form)-longestTail):]
		for {
			at := strings.Index(end, line[:shortest])
			if at < 0 {
				break
			}
			if end = end[at:]; len(end) > longest && strings.HasPrefix(line, end) {
				longest = len(end)
				break
			}
			end = end[1:]
		}
	}
	return longest
}
