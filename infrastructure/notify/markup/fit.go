package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Form is how a channel shows the text of a message.
type Form struct {
	// Text is that of a content.
	Text func(c alert.Content) string
	// Fits reports whether the service takes a text.
	Fits func(text string) bool
	// Spell writes a value the way the text does.
	Spell func(value string) string
}

// Within is a Fits by a number of units.
func Within(most int, unit Unit) func(text string) bool {
	return func(text string) bool { return len(text) <= most || measure(text, unit) <= most }
}

// Fill returns the text of a message, and the ids of the alerts that it names. A longer message tells of
// fewer alerts: the bound falls between two of them, and the text still says how many there are. A text of
// one alert that is too long is cut before its last line.
func (f Form) Fill(m alert.Message) (text string, listed []string) {
	text = f.Text(m.Content)
	if !f.Fits(text) {
		text = f.shorter(m, text)
	}
	return text, f.Named(text, m.Alerts)
}

func (f Form) shorter(m alert.Message, whole string) string {
	if m.Fewer == nil || len(m.Alerts) < 2 {
		return f.cut(whole)
	}
	// few fits, or is 0; many does not.
	best, few, many := "", 0, len(m.Alerts)
	for many-few > 1 {
		n := (few + many) / 2
		if text := f.Text(m.Fewer(n)); f.Fits(text) {
			best, few = text, n
		} else {
			many = n
		}
	}
	if few == 0 {
		return f.cut(f.Text(m.Fewer(1)))
	}
	return best
}

// maxLast is how long a last line may be to stay, in bytes.
const maxLast = 300

// cut shortens a text before its last line.
func (f Form) cut(text string) string {
	if f.Fits(text) {
		return text
	}
	last := ""
	if i := strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n'); i >= 0 && len(text)-i <= maxLast {
		text, last = text[:i], text[i:]
	}
	low, high := 0, len(text)
	for high-low > 1 {
		middle := (low + high) / 2
		if f.Fits(Cut(text, middle, Bytes) + last) {
			low = middle
		} else {
			high = middle
		}
	}
	if text = Cut(text, low, Bytes) + last; f.Fits(text) {
		return text
	}
	return ""
}

// maxProof is how much of the sentence of an alert has to stand in a text that names it, in characters.
const maxProof = 60

// Named are the ids of the alerts that a text names: by their id, as in a link, by the job or the node that
// they are about, or, where they are about neither, by the beginning of their sentence.
func (f Form) Named(text string, alerts []alert.MessageAlert) (ids []string) {
	for _, a := range alerts {
		proofs := []string{a.ID, a.JobName, a.NodeID}
		if a.JobName == "" && a.NodeID == "" {
			sentence, _, _ := strings.Cut(Clean(a.Summary), "\n")
			if utf8.RuneCountInString(sentence) > maxProof {
				sentence = string([]rune(sentence)[:maxProof])
			}
			proofs = append(proofs, sentence)
		}
		for _, proof := range proofs {
			if proof != "" && whole(text, f.Spell(proof)) {
				ids = append(ids, a.ID)
				break
			}
		}
	}
	return ids
}

// whole reports whether a text holds a value that is not a part of a longer word: "job 1" does not stand in
// "job 12".
func whole(text, value string) bool {
	for from := 0; value != ""; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+i])
		after, _ := utf8.DecodeRuneInString(text[from+i+len(value):])
		first, _ := utf8.DecodeRuneInString(value)
		last, _ := utf8.DecodeLastRuneInString(value)
		if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
			return true
		}
		from += i + 1
	}
	return false
}

// inWord reports whether a character is part of a word. Writings without spaces have no such bound.
func inWord(r rune) bool {
	return r < unicode.MaxLatin1 && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// IDs are those of alerts.
func IDs(alerts []alert.MessageAlert) []string {
	return convert.All(alerts, func(a alert.MessageAlert) string { return a.ID })
}
