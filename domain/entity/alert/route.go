package alert

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Route says where alerts go. Routes are asked in the order of their position, then of
// their names. The first that matches takes the alert; one with Continue lets the next be
// asked, too.
type Route struct {
	Head
	// Position orders routes; those with the same one go by their names.
	Position int `json:"position" validate:"optional" minimum:"0" maximum:"10000"`
	// Match has the labels that an alert must have; none takes all.
	Match      map[string]string `json:"match" validate:"optional"`
	ChannelIDs []string          `json:"channelIds" validate:"optional" maxItems:"100"`
	// Continue lets the next routes be asked, too.
	Continue bool `json:"continue" validate:"optional"`
	// GroupBy names the labels by which alerts share a message.
	GroupBy []string `json:"groupBy" validate:"optional" maxItems:"64"`
	// GroupWaitSec is how long the first alert of a group waits for others.
	GroupWaitSec int `json:"groupWaitSec" validate:"optional" minimum:"0" maximum:"2592000"`
	// GroupIntervalSec is how long later alerts of a group wait.
	GroupIntervalSec int `json:"groupIntervalSec" validate:"optional" minimum:"0" maximum:"2592000"`
	// RepeatSec is after how long an alert that still fires is told again; 0 is never.
	RepeatSec int `json:"repeatSec" validate:"optional" minimum:"0" maximum:"2592000"`
	// EscalateAfterSec is after how long an alert that nobody has acknowledged also goes to
	// the channels EscalateTo; 0 is never.
	EscalateAfterSec int      `json:"escalateAfterSec" validate:"optional" minimum:"0" maximum:"2592000"`
	EscalateTo       []string `json:"escalateTo" validate:"optional" maxItems:"100"`
	OnCallID         string   `json:"onCallId" validate:"optional"`
	TemplateID       string   `json:"templateId" validate:"optional"`
}

// Silence holds back the messages of matching alerts for a time.
type Silence struct {
	Head
	Match map[string]string `json:"match"`
	// From is when it begins: for a new one, now where it is absent. To is at most 366 days later.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Comment string    `json:"comment" validate:"optional" maxLength:"1000"`
	// By is the user who made it.
	By string `json:"by" validate:"optional" readonly:"true"`
	// Warnings name what it matches that is not there. They are no part of it, and are filled in where one is
	// shown alone.
	Warnings []apperror.Field `json:"-"`
}

// Active reports whether the silence holds at a moment.
func (s *Silence) Active(at time.Time) bool {
	return s.Enabled && !at.Before(s.From) && at.Before(s.To)
}

// Template makes messages; its texts are templates in the languages of its keys, zh and
// en. A form without a text stands for that of the product.
type Template struct {
	Head
	Title    map[string]string `json:"title" validate:"optional"`
	Text     map[string]string `json:"text" validate:"optional"`
	HTML     map[string]string `json:"html" validate:"optional"`
	Markdown map[string]string `json:"markdown" validate:"optional"`
}

// Content is the template in a language.
func (t *Template) Content(language string) Content {
	return Content{
		Title: t.Title[language], Text: t.Text[language], HTML: t.HTML[language], Markdown: t.Markdown[language],
	}
}
