package night_test

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pictures writes pages of the messages of docs/night.md into NIGHT_DIR, where that is given: the one about the
// node, and the one that names most. `draw` makes pictures of them.
func (n *night) pictures(t *testing.T, node string) {
	t.Helper()
	dir := os.Getenv("NIGHT_DIR")
	if dir == "" {
		return
	}
	for channel := range n.channels {
		all := n.book.of(channel)
		for name, r := range map[string]receipt{
			"node": all[slices.IndexFunc(all, func(r receipt) bool { return slices.Contains(named(r), node) })],
			"all":  slices.MaxFunc(all, func(a, b receipt) int { return len(named(a)) - len(named(b)) }),
		} {
			page := r.html
			if page == "" {
				page = bubble(t, r.body)
			}
			page = strings.Replace(page, "<html>", `<html><meta charset="utf-8">`, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, channel+"-"+name+".html"), []byte(page), 0o600))
		}
	}
}

// said is what the bodies of robots hold for people.
type said struct {
	Markdown struct{ Content, Title, Text string }
	Card     struct {
		Header   struct{ Title struct{ Content string } }
		Elements []struct{ Content string }
	}
}

var (
	bold = regexp.MustCompile(`\*\*(.+?)\*\*`)
	link = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^)]+)\)`)
)

// bubble shows what a robot says, as chats do.
func bubble(t *testing.T, body string) string {
	t.Helper()
	var s said
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	title, text := s.Card.Header.Title.Content, s.Markdown.Content+s.Markdown.Text
	for _, e := range s.Card.Elements {
		text += e.Content
	}
	text = html.EscapeString(strings.TrimSpace(text))
	text = bold.ReplaceAllString(text, "<b>$1</b>")
	text = link.ReplaceAllString(text, `<a href="$2">$1</a>`)
	if title != "" {
		title = `<div style="background:#e54545;color:#fff;padding:8px 14px">` + html.EscapeString(title) + "</div>"
	}
	return `<html><body style="margin:0;background:#ececec;font:14px/1.5 sans-serif;color:#222"><div style="margin:14px;` +
		`background:#fff;border-radius:8px;overflow:hidden">` + title + `<div style="padding:12px 14px;white-space:pre-wrap;` +
		`overflow-wrap:anywhere">` + text + "</div></div></body></html>"
}
