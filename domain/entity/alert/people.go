package alert

import "time"

// Contact is how one user is reached.
type Contact struct {
	Head
	UserID string `json:"userId"`
	Email  string `json:"email,omitempty"`
	Phone  string `json:"phone,omitempty"`
	ChatID string `json:"chatId,omitempty"`
}

// Team is people who take care together.
type Team struct {
	Head
	// Members are ids of users; ChannelIDs reach all of them.
	Members    []string `json:"members"`
	ChannelIDs []string `json:"channelIds,omitempty"`
}

// OnCall says which team takes care, and when.
type OnCall struct {
	Head
	TimeZone string  `json:"timeZone"`
	Shifts   []Shift `json:"shifts"`
}

// Shift is when a team is on call: on these days, from one time of the day until another.
// One that ends at or before its beginning ends on the day after.
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
