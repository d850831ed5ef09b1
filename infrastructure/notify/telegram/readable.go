package telegram

import (
	"regexp"
	"strings"
)

var (
	tag = regexp.MustCompile(`<[^<>]*>`)
	// opening are the tags that messages may use; links lead to pages only, since others call people.
	opening = regexp.MustCompile(`^<(b|strong|i|em|u|ins|s|strike|del|code|pre|blockquote|a) ?(href="https?://[^"<>]*")?>$`)
	closing = regexp.MustCompile(`^</([a-z]+)>$`)
)

// readable reports whether Telegram can read a text as HTML: it knows all tags, and each of them is
// closed in its order. Telegram refuses other texts as a whole.
func readable(html string) bool {
	var open []string
	rest := tag.ReplaceAllStringFunc(html, func(t string) string {
		if m := closing.FindStringSubmatch(t); m != nil && len(open) > 0 && open[len(open)-1] == m[1] {
			open = open[:len(open)-1]
			return ""
		}
		m := opening.FindStringSubmatch(t)
		if m == nil || (m[1] == "a") != (m[2] != "") {
			return t
		}
		open = append(open, m[1])
		return ""
	})
	return len(open) == 0 && !strings.ContainsAny(rest, "<>")
}
