package request

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// TeamBody is a team.
type TeamBody struct {
	SettingHead
	// Members are ids of users; the channels reach all of them.
	Members    []string `json:"members,omitempty" maxItems:"200"`
	ChannelIDs []string `json:"channelIds,omitempty" maxItems:"100"`
}

// ReadTeam reads the body of POST and PUT /teams.
func ReadTeam(r *http.Request) (Definition[alert.Team], error) {
	return readDefinition(r, func(b *TeamBody, _ *faults) (*alert.Team, int) {
		return &alert.Team{Head: b.head(), Members: b.Members, ChannelIDs: b.ChannelIDs}, b.Version
	})
}

// ContactBody is how one user is reached: at least one way.
type ContactBody struct {
	SettingHead
	UserID string `json:"userId"`
	Email  string `json:"email,omitempty" maxLength:"254"`
	Phone  string `json:"phone,omitempty" maxLength:"32"`
	ChatID string `json:"chatId,omitempty" maxLength:"255"`
}

// ReadContact reads the body of POST and PUT /contacts.
func ReadContact(r *http.Request) (Definition[alert.Contact], error) {
	return readDefinition(r, func(b *ContactBody, f *faults) (*alert.Contact, int) {
		for field, value := range map[string]string{"email": b.Email, "phone": b.Phone, "chatId": b.ChatID} {
			if value == hiddenContact {
				f.add(field, "hidden_value", "is %s, which stands for what was not shown; give the value", hiddenContact)
			}
		}
		return &alert.Contact{Head: b.head(), UserID: b.UserID, Email: b.Email, Phone: b.Phone, ChatID: b.ChatID}, b.Version
	})
}

// hiddenContact stands for an address that a reader is not shown.
const hiddenContact = "***"

// OnCallBody is an on-call plan.
type OnCallBody struct {
	SettingHead
	TimeZone string      `json:"timeZone" maxLength:"64"`
	Shifts   []ShiftBody `json:"shifts" maxItems:"100"`
}

// ShiftBody is when a team is on call: on these days, by the wall clock of the plan's zone.
type ShiftBody struct {
	TeamID string `json:"teamId"`
	// Days are those on which the shift begins; none is every day.
	Days []string `json:"days,omitempty" enums:"MON,TUE,WED,THU,FRI,SAT,SUN"`
	// From and To are times of the day. A shift that ends at or before its beginning ends on
	// the day after.
	From string `json:"from" example:"18:00"`
	To   string `json:"to" example:"09:00"`
	// RotateDays lets the members of the team take turns, each for so many days; 0: all of
	// them are on call. RotateFrom is the first day of the first member.
	RotateDays int    `json:"rotateDays,omitempty" minimum:"0" maximum:"366"`
	RotateFrom string `json:"rotateFrom,omitempty" example:"2026-01-05"`
}

// weekdays are the names of days, by their numbers.
var weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

var timeOfDay = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d$|^24:00$`)

// ReadOnCall reads the body of POST and PUT /on-call.
func ReadOnCall(r *http.Request) (Definition[alert.OnCall], error) {
	return readDefinition(r, func(b *OnCallBody, f *faults) (*alert.OnCall, int) {
		plan := &alert.OnCall{Head: b.head(), TimeZone: b.TimeZone}
		for i, s := range b.Shifts {
			at := fmt.Sprintf("shifts[%d].", i)
			shift := alert.Shift{
				TeamID: s.TeamID, FromMin: minuteOf(f, at+"from", s.From), ToMin: minuteOf(f, at+"to", s.To),
				RotateDays: s.RotateDays, RotateFrom: s.RotateFrom,
			}
			for _, name := range s.Days {
				day := slices.Index(weekdays, name)
				if day < 0 {
					f.add(at+"days", "unknown_value", "must name days among %s", strings.Join(weekdays, ", "))
					break
				}
				shift.Days = append(shift.Days, time.Weekday(day))
			}
			plan.Shifts = append(plan.Shifts, shift)
		}
		return plan, b.Version
	})
}

// minuteOf is the minute of the day that a text names.
func minuteOf(f *faults, field, text string) int {
	if !timeOfDay.MatchString(text) {
		if !f.has(field) {
			f.add(field, "invalid_time", "must be a time of the day such as 09:00")
		}
		return 0
	}
	var hour, minute int
	_, _ = fmt.Sscanf(text, "%d:%d", &hour, &minute)
	return hour*60 + minute
}
