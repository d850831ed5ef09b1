package alerting

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of what people define. Lengths count characters.
const (
	// LongestSilence is how far from its begin a silence may end.
	LongestSilence = 366 * 24 * time.Hour
	maxTurn        = 366
	maxPosition    = 10_000
	minutesADay    = 24 * 60
)

var phone = regexp.MustCompile(`^\+?[0-9][0-9 ()-]{2,30}[0-9]$`)

// ValidateHead lists what is wrong with what all settings have.
func ValidateHead(h *alert.Head) []apperror.Field {
	c := &checks{}
	if strings.TrimSpace(h.Name) == "" {
		c.add("name", validation.CodeRequired, "give it a name")
	} else {
		c.line("name", h.Name, validation.MaxName)
	}
	if h.Group != "" {
		if remedy := validation.GroupName(h.Group); remedy != "" {
			c.add("group", validation.CodeInvalid, "%s; null is all groups", remedy)
		}
	}
	return c.fields
}

// ValidateSilence lists what is wrong with a silence at a moment.
func ValidateSilence(s *alert.Silence, now time.Time) []apperror.Field {
	c := &checks{}
	if len(s.Match) == 0 {
		c.add("match", validation.CodeRequired, "name labels of the alerts to silence, such as {\"job\": \"NAME\"}")
	}
	c.labels("match", s.Match)
	switch {
	case s.To.IsZero():
		c.add("to", validation.CodeRequired, "say until when")
	case !s.From.Before(s.To):
		c.add("to", "out_of_order", "must be after from")
	case !now.Before(s.To):
		c.add("to", validation.CodeOutOfRange, "must be in the future; delete the silence to end it")
	case s.To.Sub(s.From) > LongestSilence || s.From.Sub(now) > LongestSilence:
		c.add("to", validation.CodeOutOfRange, "must be at most 366 days after from, and from at most 366 days ahead")
	}
	c.text("comment", s.Comment, bounds.Comment)
	return c.fields
}

// ValidateRoute lists what is wrong with a route.
func ValidateRoute(r *alert.Route) []apperror.Field {
	c := &checks{}
	if r.Position < 0 || r.Position > maxPosition {
		c.add("position", validation.CodeOutOfRange, "use a number from 0 to %d", maxPosition)
	}
	c.labels("match", r.Match)
	c.ids("channelIds", r.ChannelIDs, bounds.List)
	c.list("groupBy", len(r.GroupBy), validation.MaxLabels)
	for i, name := range r.GroupBy[:min(len(r.GroupBy), validation.MaxLabels)] {
		field := fmt.Sprintf("groupBy[%d]", i)
		if name == "" {
			c.add(field, validation.CodeRequired, "name a label")
		} else {
			c.line(field, name, validation.MaxLabelKey)
		}
	}
	c.seconds("groupWaitSec", r.GroupWaitSec)
	c.seconds("groupIntervalSec", r.GroupIntervalSec)
	c.seconds("repeatSec", r.RepeatSec)
	if r.RepeatSec > 0 && r.RepeatSec < 60 {
		c.add("repeatSec", validation.CodeOutOfRange, "repeat after 60 seconds at the earliest; 0 is never")
	}
	c.seconds("escalateAfterSec", r.EscalateAfterSec)
	c.ids("escalateTo", r.EscalateTo, bounds.List)
	switch {
	case r.EscalateAfterSec > 0 && len(r.EscalateTo) == 0:
		c.add("escalateTo", validation.CodeRequired, "name the channels to escalate to")
	case r.EscalateAfterSec == 0 && len(r.EscalateTo) > 0:
		c.add("escalateAfterSec", validation.CodeRequired, "say after how many seconds to escalate")
	}
	if len(r.ChannelIDs) == 0 && r.OnCallID == "" && !r.Continue {
		c.add("channelIds", validation.CodeRequired, "name channels or an on-call plan: the route would swallow alerts")
	}
	return c.fields
}

// ValidateTeam lists what is wrong with a team.
func ValidateTeam(t *alert.Team) []apperror.Field {
	c := &checks{}
	if len(t.Members) == 0 && len(t.ChannelIDs) == 0 {
		c.add("members", validation.CodeRequired, "name users or channels: nobody would be told")
	}
	c.ids("members", t.Members, bounds.Members)
	c.ids("channelIds", t.ChannelIDs, bounds.List)
	return c.fields
}

// ValidateContact lists what is wrong with a contact.
func ValidateContact(v *alert.Contact) []apperror.Field {
	c := &checks{}
	if v.UserID == "" {
		c.add("userId", validation.CodeRequired, "name the user")
	}
	if v.Email == "" && v.Phone == "" && v.ChatID == "" {
		c.add("email", validation.CodeRequired, "give a mail address, a phone number or a chat id")
	}
	if v.Email != "" {
		a, err := mail.ParseAddress(v.Email)
		if err != nil || a.Name != "" || a.Address != v.Email || len(v.Email) > bounds.Email {
			c.add("email", validation.CodeInvalid, "write one address, such as ann@example.com")
		}
	}
	if v.Phone != "" && !phone.MatchString(v.Phone) {
		c.add("phone", validation.CodeInvalid, "write a number such as +86 10 1234 5678")
	}
	c.line("chatId", v.ChatID, bounds.ChatID)
	return c.fields
}

// ValidateOnCall lists what is wrong with an on-call plan.
func ValidateOnCall(v *alert.OnCall) []apperror.Field {
	c := &checks{}
	// The name of a zone is that of a file, so that ./././UTC is one, too.
	if _, err := time.LoadLocation(v.TimeZone); err != nil || v.TimeZone == "" || v.TimeZone == "Local" ||
		len(v.TimeZone) > bounds.TimeZone {
		c.add("timeZone", "unknown_time_zone", "must be an IANA time zone such as Asia/Shanghai or UTC")
	}
	if len(v.Shifts) == 0 {
		c.add("shifts", validation.CodeRequired, "plan at least one shift: nobody would be on call")
	}
	c.list("shifts", len(v.Shifts), bounds.Shifts)
	for i, s := range v.Shifts[:min(len(v.Shifts), bounds.Shifts)] {
		at := fmt.Sprintf("shifts[%d].", i)
		if s.TeamID == "" {
			c.add(at+"teamId", validation.CodeRequired, "name the team")
		}
		if len(slices.Compact(slices.Sorted(slices.Values(s.Days)))) != len(s.Days) {
			c.add(at+"days", validation.CodeConflict, "name each day once")
		}
		if s.FromMin < 0 || s.FromMin >= minutesADay {
			c.add(at+"from", validation.CodeOutOfRange, "must be a time from 00:00 to 23:59")
		}
		if s.ToMin < 0 || s.ToMin > minutesADay {
			c.add(at+"to", validation.CodeOutOfRange, "must be a time from 00:00 to 24:00")
		}
		c.turns(at, s)
	}
	return c.fields
}

// turns checks how the members of a team take turns.
func (c *checks) turns(at string, s alert.Shift) {
	if s.RotateDays < 0 || s.RotateDays > maxTurn {
		c.add(at+"rotateDays", validation.CodeOutOfRange, "use days from 0 to %d; with 0 nobody takes turns", maxTurn)
	}
	_, err := time.Parse(time.DateOnly, s.RotateFrom)
	switch {
	case s.RotateDays == 0 && s.RotateFrom != "":
		c.add(at+"rotateFrom", validation.CodeConflict, "nobody takes turns: say rotateDays, or leave it out")
	case s.RotateDays > 0 && err != nil:
		c.add(at+"rotateFrom", validation.CodeInvalid, "must be the first day of the first member, such as 2026-01-05")
	}
}

// text checks a text that may have several lines.
func (c *checks) text(field, s string, most int) {
	switch {
	case utf8.RuneCountInString(s) > most:
		c.add(field, validation.CodeTooLong, "use at most %d characters", most)
	case validation.Text(s, len(s)) != s:
		c.add(field, validation.CodeInvalid, "remove control characters; end lines with a line feed")
	}
}

func (c *checks) labels(field string, labels map[string]string) {
	c.fields = append(c.fields, validation.Labels(field, labels)...)
}
