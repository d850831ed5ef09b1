package alert

import (
	"time"
)

// Route says where alerts go. Routes are asked in the order of their position, then of
// their names. The first that matches takes the alert; one with Continue lets the next be
// asked, too.
type Route struct {
	Head
	Position int `json:"position,omitempty"`
	// Match has the labels that an alert must have; none takes all.
	Match      map[string]string `json:"match,omitempty"`
	ChannelIDs []string          `json:"channelIds,omitempty"`
	Continue   bool              `json:"continue,omitempty"`
	// GroupBy names the labels by which alerts share a message.
	GroupBy []string `json:"groupBy,omitempty"`
	// GroupWaitSec is how long the first alert of a group waits for others, and
	// GroupIntervalSec how long later ones do. RepeatSec is after how long an alert that
	// still fires is told again; 0 is never.
	GroupWaitSec     int `json:"groupWaitSec,omitempty"`
	GroupIntervalSec int `json:"groupIntervalSec,omitempty"`
	RepeatSec        int `json:"repeatSec,omitempty"`
	// EscalateAfterSec is after how long an alert that nobody has acknowledged also goes to
	// the channels EscalateTo; 0 is never.
	EscalateAfterSec int      `json:"escalateAfterSec,omitempty"`
	EscalateTo       []string `json:"escalateTo,omitempty"`
	OnCallID         string   `json:"onCallId,omitempty"`
	TemplateID       string   `json:"templateId,omitempty"`
}

// Silence holds back the messages of matching alerts for a time.
type Silence struct {
	Head
	Match   map[string]string `json:"match"`
	From    time.Time         `json:"from"`
	To      time.Time         `json:"to"`
	Comment string            `json:"comment,omitempty"`
	By      string            `json:"by,omitempty"`
}

// Active reports whether the silence holds at a moment.
func (s *Silence) Active(at time.Time) bool {
	return s.Enabled && !at.Before(s.From) && at.Before(s.To)
}

// Template makes messages; its texts are templates in the languages of its keys, zh and
// en. A form without a text stands for that of the product.
type Template struct {
	Head
	Title    map[string]string `json:"title,omitempty"`
	Text     map[string]string `json:"text,omitempty"`
	HTML     map[string]string `json:"html,omitempty"`
	Markdown map[string]string `json:"markdown,omitempty"`
}

// Content is the template in a language.
func (t *Template) Content(language string) Content {
	return Content{
		Title: t.Title[language], Text: t.Text[language], HTML: t.HTML[language], Markdown: t.Markdown[language],
	}
}
