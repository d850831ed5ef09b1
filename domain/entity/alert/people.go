package alert

import (
	"strings"
	"time"
)

// Contact is how one user is reached.
type Contact struct {
	Head
	UserID string `json:"userId"`
	Email  string `json:"email" validate:"optional" maxLength:"254"`
	Phone  string `json:"phone" validate:"optional" maxLength:"32"`
	ChatID string `json:"chatId" validate:"optional" maxLength:"255"`
}

// Reach is the address of a contact by which a channel reaches that person; empty: it cannot.
type Reach func(c *Contact) string

// ByMail reaches a person by mail.
func ByMail(c *Contact) string { return c.Email }

// ByPhone has a robot call a person by the number; people write it with spaces.
func ByPhone(c *Contact) string { return strings.ReplaceAll(c.Phone, " ", "") }

// ByChat has a robot call a person by the id in the chat.
func ByChat(c *Contact) string { return c.ChatID }

// Team is people who take care together.
type Team struct {
	Head
	// Members are ids of users; ChannelIDs reach all of them.
	Members    []string `json:"members" validate:"optional" maxItems:"200"`
	ChannelIDs []string `json:"channelIds" validate:"optional" maxItems:"100"`
}

// OnCall says which team takes care, and when.
type OnCall struct {
	Head
	TimeZone string  `json:"timeZone" maxLength:"64"`
	Shifts   []Shift `json:"shifts" swaggerignore:"true"`
}

// Shift is when a team is on call: on these days, from one time of the day until another.
// One that ends at or before its beginning ends on the day after. Its document has numbers, which former releases read;
// the API speaks of names of days and times of the day.
type Shift struct {
	TeamID string `json:"teamId"`
	// Days are 0 (Sunday) to 6; none is every day.
	Days []time.Weekday `json:"days,omitempty"`
	// FromMin and ToMin are minutes after midnight, 0–1440.
	FromMin int `json:"fromMin"`
	ToMin   int `json:"toMin"`
	// RotateDays lets the members of the team take turns: each is on call for so many days,
	// 1–366. With 0 all of them are. RotateFrom is the first day of the first member, such as
	// 2026-01-05, in the time zone of the plan.
	RotateDays int    `json:"rotateDays,omitempty"`
	RotateFrom string `json:"rotateFrom,omitempty"`
}
