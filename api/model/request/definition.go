package request

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// ReadRule reads the body of POST and PUT /alert-rules.
func ReadRule(r *http.Request) (Definition[alert.Rule], error) {
	return readDefinition(r, ofRule)
}

func ofRule(b *vo.Rule, _ *faults) (vo.SettingHead, *alert.Rule) { return b.SettingHead, &b.Rule }

// DryRunBody is the body of POST /alert-rules/dry-run.
type DryRunBody struct {
	Rule vo.Rule `json:"rule"`
	// From and To are the past span that the rule is asked about.
	From time.Time `json:"from" format:"date-time"`
	To   time.Time `json:"to" format:"date-time"`
}

// DryRun is a rule, and the span that it is asked about.
type DryRun struct {
	Rule     *alert.Rule
	From, To time.Time
}

// ReadDryRun reads the body of POST /alert-rules/dry-run.
func ReadDryRun(r *http.Request) (d DryRun, err error) {
	_, err = readBody(r, func(b *DryRunBody, f *faults) {
		d = DryRun{&b.Rule.Rule, b.From, b.To}
		d.Rule.Head = b.Rule.SettingHead.Head()
		for _, end := range []struct {
			field string
			at    time.Time
		}{{"from", b.From}, {"to", b.To}} {
			if end.at.IsZero() && !f.has(end.field) {
				f.add(end.field, "required", "is required")
			}
		}
		if !b.From.IsZero() && !b.To.IsZero() && !b.From.Before(b.To) {
			f.add("to", "out_of_order", "must be after from")
		}
	})
	return d, err
}

// ReadTeam reads the body of POST and PUT /teams.
func ReadTeam(r *http.Request) (Definition[alert.Team], error) {
	return readDefinition(r, ofTeam)
}

func ofTeam(b *vo.Team, _ *faults) (vo.SettingHead, *alert.Team) { return b.SettingHead, &b.Team }

// ReadContact reads the body of POST and PUT /contacts.
func ReadContact(r *http.Request) (Definition[alert.Contact], error) {
	return readDefinition(r, ofContact)
}

func ofContact(b *vo.Contact, f *faults) (vo.SettingHead, *alert.Contact) {
	for field, value := range map[string]string{"email": b.Email, "phone": b.Phone, "chatId": b.ChatID} {
		if value == vo.HiddenContact {
			f.add(field, "hidden_value", "is %s, which stands for what was not shown; give the value", value)
		}
	}
	return b.SettingHead, &b.Contact
}

var timeOfDay = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d$|^24:00$`)

// ReadOnCall reads the body of POST and PUT /on-call.
func ReadOnCall(r *http.Request) (Definition[alert.OnCall], error) {
	return readDefinition(r, ofOnCall)
}

func ofOnCall(b *vo.OnCall, f *faults) (vo.SettingHead, *alert.OnCall) {
	weekdays := vo.Weekdays()
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
		b.OnCall.Shifts = append(b.OnCall.Shifts, shift)
	}
	return b.SettingHead, &b.OnCall
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
