package policy

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Silenced is the first active silence that matches an alert. A silence of a group holds
// back the alerts of that group alone.
func (p *Policy) Silenced(a *alert.Alert, now time.Time) (*alert.Silence, bool) {
	for _, s := range p.Silences {
		if s.Active(now) && (s.Group == "" || s.Group == a.Group) && alert.Matches(s.Match, a.Labels) {
			return s, true
		}
	}
	return nil, false
}

// causes says which alerts explain others: while one of these fires, the others say
// nothing new.
func causes(cause, a *alert.Alert) bool {
	switch cause.Type {
	case alert.NothingRan:
		return a.Type == alert.NotFired || a.Type == alert.Lateness
	case alert.NodeDown:
		return (a.Type == alert.NodeSuspect || a.Type == alert.ClockSkew) && a.NodeID == cause.NodeID
	case alert.ConsecutiveFailures, alert.DeadLetter:
		return a.Type == alert.JobFailed && a.JobID == cause.JobID
	case alert.NotFired: // of many jobs at once
		return cause.JobID == "" && a.Type == alert.NotFired && a.JobID != ""
	case alert.NoNode:
		return cause.JobID == "" && a.Type == alert.Lateness
	}
	return false
}

// Causes are the alerts that may explain others, as they are looked up.
type Causes struct {
	// byJob explain alerts about their job, others all alerts of a type.
	byJob  map[string][]*alert.Alert
	others []*alert.Alert
}

// CausesAmong picks the alerts that fire and may explain others.
func CausesAmong(held []*alert.Alert) Causes {
	c := Causes{byJob: map[string][]*alert.Alert{}}
	for _, a := range held {
		if !a.Open() || a.Status == alert.Pending {
			continue
		}
		switch a.Type {
		case alert.ConsecutiveFailures, alert.DeadLetter:
			c.byJob[a.JobID] = append(c.byJob[a.JobID], a)
		case alert.NotFired, alert.NoNode:
			if a.JobID == "" {
				c.others = append(c.others, a)
			}
		case alert.NothingRan, alert.NodeDown:
			c.others = append(c.others, a)
		}
	}
	return c
}

// of are the alerts that explain another one.
func (c Causes) of(a *alert.Alert) (out []*alert.Alert) {
	for _, cause := range slices.Concat(c.byJob[a.JobID], c.others) {
		if cause.ID != a.ID && causes(cause, a) {
			out = append(out, cause)
		}
	}
	return out
}

// Explained are the channels on which an alert says nothing new, each with the one that
// explains it. A cause that does not go to a channel explains nothing there.
func (p *Policy) Explained(a *alert.Alert, c Causes, now time.Time) map[string]*alert.Alert {
	out := map[string]*alert.Alert{}
	for _, cause := range c.of(a) {
		targets, _ := p.Targets(cause, now)
		for _, t := range targets {
			if out[t.ChannelID] == nil {
				out[t.ChannelID] = cause
			}
		}
	}
	return out
}

// OnCallNow is who is on call by a plan.
type OnCallNow struct {
	// ChannelIDs are those of the teams, People the ids of users, in the order of the shifts.
	ChannelIDs []string
	People     []string
}

// OnCallAt is who is on call at a moment. A plan that is switched off has nobody, and neither has a team.
func (p *Policy) OnCallAt(id string, now time.Time) (who OnCallNow) {
	plan := p.OnCall[id]
	if plan == nil || !plan.Enabled {
		return who
	}
	zone, err := time.LoadLocation(plan.TimeZone)
	if err != nil {
		zone = time.UTC // a plan is checked when it is saved; the zone went with an upgrade
	}
	at := now.In(zone)
	for _, shift := range plan.Shifts {
		team := p.Teams[shift.TeamID]
		if team == nil || !team.Enabled || !OnShift(shift, at) {
			continue
		}
		who.ChannelIDs = append(who.ChannelIDs, team.ChannelIDs...)
		for _, person := range Turn(shift, team.Members, at) {
			if !slices.Contains(who.People, person) {
				who.People = append(who.People, person)
			}
		}
	}
	return who
}

// addresses are where a channel reaches people for a route of a group, as far as they have such an address. An
// author of the contacts of a group says where the alerts of that group go, and no others.
func (p *Policy) addresses(people []string, group string, reach alert.Reach) (to []string) {
	if reach == nil {
		return nil
	}
	for _, id := range people {
		address := p.address(id, group, reach)
		if address == "" {
			address = p.address(id, "", reach)
		}
		if address != "" && !slices.Contains(to, address) {
			to = append(to, address)
		}
	}
	return to
}

// address is the first one, by name of the contact, that a user has in a group.
func (p *Policy) address(user, group string, reach alert.Reach) string {
	var found *alert.Contact
	for _, c := range p.Contacts[user] {
		if c.Enabled && reach(c) != "" && c.Group == group && (found == nil || c.Name < found.Name) {
			found = c
		}
	}
	if found == nil {
		return ""
	}
	return reach(found)
}

// Turn are the members of a team who have a shift that covers a moment: all of them, or
// the one whose turn it is. A shift belongs to the day on which it begins.
func Turn(s alert.Shift, members []string, at time.Time) []string {
	from, err := time.Parse(time.DateOnly, s.RotateFrom)
	if s.RotateDays < 1 || err != nil || len(members) == 0 {
		return members
	}
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	if s.FromMin >= s.ToMin && at.Hour()*60+at.Minute() < s.ToMin && begins(s, (at.Weekday()+6)%7) {
		day = day.AddDate(0, 0, -1)
	}
	turns := floorDiv(int(day.Sub(from)/(24*time.Hour)), s.RotateDays)
	n := turns % len(members)
	if n < 0 {
		n += len(members)
	}
	return members[n : n+1]
}

// floorDiv divides and rounds down, also below zero.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// OnShift reports whether a shift covers a moment, by the wall clock of its zone. The days
// are those on which it begins.
func OnShift(s alert.Shift, at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	today, yesterday := begins(s, at.Weekday()), begins(s, (at.Weekday()+6)%7)
	if s.FromMin < s.ToMin {
		return today && minute >= s.FromMin && minute < s.ToMin
	}
	return today && minute >= s.FromMin || yesterday && minute < s.ToMin
}

func begins(s alert.Shift, day time.Weekday) bool {
	for _, d := range s.Days {
		if d == day {
			return true
		}
	}
	return len(s.Days) == 0
}
