package markup

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Dialect is how a service marks up texts.
type Dialect int

// The dialects. Where a service documents no way to escape its marks, the full-width forms of the
// marks stand for them: people read them, and no renderer obeys them.
const (
	// FullWidth serves DingTalk and WeCom.
	FullWidth Dialect = iota
	// Feishu escapes by numeric entities.
	Feishu
	// Slack is mrkdwn.
	Slack
	// Telegram is its subset of HTML.
	Telegram
)

// Escape returns a value as one line of text without marks and without mentions.
func (d Dialect) Escape(value string) string {
	value = Line(value)
	switch d {
	case Feishu:
		return strings.Map(wideAt, entities(value))
	case Slack:
		return strings.Map(wideSlack, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(value))
	case Telegram:
		return strings.Map(wideAt, html.EscapeString(value))
	default:
		return strings.Map(wide, value)
	}
}

// EscapeLines is Escape that keeps line breaks.
func (d Dialect) EscapeLines(value string) string {
	lines := strings.Split(Clean(value), "\n")
	for i, line := range lines {
		lines[i] = d.Escape(line)
	}
	return strings.Join(lines, "\n")
}

// entities escapes the marks of Feishu's Markdown.
func entities(value string) string {
	return strings.NewReplacer(
		"&", "&#38;", "<", "&#60;", ">", "&#62;", "*", "&#42;", "_", "&#95;", "~", "&#126;", "`", "&#96;",
		"[", "&#91;", "]", "&#93;", "(", "&#40;", ")", "&#41;", "#", "&#35;", "!", "&#33;", "\\", "&#92;",
		"|", "&#124;",
	).Replace(value)
}

// wide maps marks of Markdown and HTML to their full-width forms. An underscore stays: names of
// jobs are full of them, and it can do no more than slant a text.
func wide(r rune) rune {
	if strings.ContainsRune("@[]<>*`#~|\\&", r) {
		return r + 0xfee0
	}
	return r
}

// wideAt maps the mark of mentions to its full-width form.
func wideAt(r rune) rune {
	if r == '@' {
		return r + 0xfee0
	}
	return r
}

// wideSlack maps what Slack knows no way to escape: the marks of mentions, bold text, strikes and code.
// An underscore stays, as it does in wide.
func wideSlack(r rune) rune {
	if strings.ContainsRune("@*~`", r) {
		return r + 0xfee0
	}
	return r
}

// Bold marks an escaped text as important.
func (d Dialect) Bold(escaped string) string {
	switch d {
	case Slack:
		return "*" + escaped + "*"
	case Telegram:
		return "<b>" + escaped + "</b>"
	default:
		return "**" + escaped + "**"
	}
}

// Link makes an escaped text lead to an address. Without an address of http or https the text stays
// as it is.
func (d Dialect) Link(escaped, address string) string {
	u, err := url.Parse(Line(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return escaped
	}
	to := strings.NewReplacer(
		"(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", `"`, "%22", "'", "%27", " ", "%20", "@", "%40",
		"[", "%5B", "]", "%5D", "`", "%60", "*", "%2A", "\\", "%5C",
	).Replace(u.String())
	switch d {
	case Slack:
		return "<" + to + "|" + escaped + ">"
	case Telegram:
		return `<a href="` + html.EscapeString(to) + `">` + escaped + "</a>"
	default:
		return "[" + escaped + "](" + to + ")"
	}
}

var (
	// feishuPeople are tags that name people.
	feishuPeople = regexp.MustCompile(`(?i)<(\s*/?\s*(?:at|person)\b)`)
	// slackMention are references to people and groups.
	slackMention = regexp.MustCompile(`<([@!])`)
)

// WithoutMentions takes from a finished text what would call people. Only the configuration of a
// channel may do that; the channel adds it behind.
func (d Dialect) WithoutMentions(text string) string {
	text = Clean(text)
	switch d {
	case Feishu:
		text = feishuPeople.ReplaceAllString(text, "＜$1")
	case Slack:
		text = slackMention.ReplaceAllString(text, "＜$1")
	}
	return strings.Map(wideAt, text)
}

// Body returns the text of a message for people: its Markdown, or else its plain text.
func (d Dialect) Body(c alert.Content) string {
	if c.Markdown != "" {
		return d.WithoutMentions(c.Markdown)
	}
	return d.EscapeLines(c.Text)
}

// Title returns the title of a message for places where a service reads no marks.
func (d Dialect) Title(c alert.Content) string { return d.WithoutMentions(Line(c.Title)) }
