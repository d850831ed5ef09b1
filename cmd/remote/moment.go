package remote

import (
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

// machineZone is the zone of this machine, by TZ where that is set.
func (s *Session) machineZone() *time.Location {
	if name := s.Environment("TZ"); name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone
		}
	}
	return time.Local
}

// Zone is the zone in which the planned times of a job are shown: its own, by its IANA name. With
// --utc it is UTC. It is that of this machine where there is no name, or one that is not known here.
func (s *Session) Zone(name string) *time.Location {
	if s.utc {
		return time.UTC
	}
	if zone, err := time.LoadLocation(name); err == nil && name != "" {
		return zone
	}
	return s.machineZone()
}

// Moment is a time of the API as people read it, in the zone of this machine; "" for none.
func (s *Session) Moment(text string) string { return In(s.Zone(""), text) }

// In is a time of the API in a zone, with the zone's offset: 2026-11-22
// 03:00:00+08:00. Milliseconds are shown where there are any.
func In(zone *time.Location, text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text // as it is: better than nothing
	}
	layout := "2006-01-02 15:04:05Z07:00"
	if at.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.000Z07:00"
	}
	return at.In(zone).Format(layout)
}

// Input is a time that somebody typed.
type Input struct {
	// Flag is the flag's name, for messages.
	Flag, Text string
}

// layouts are how a time without a zone may be written; those without a date are of today.
var layouts = [...]string{
	"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05",
	"15:04", "15:04:05",
}

// Time reads a time: RFC 3339 with a zone, a date, a date and a time, or a time of today. Without
// a zone the named one holds, and the answer says so; no name is the zone of this machine. Of a
// time that its clocks leave out it is the first instant after it, and of two the earlier. An
// empty string is the zero time.
func (s *Session) Time(in Input, zoneName string) (time.Time, error) {
	if in.Text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, in.Text); err == nil {
		return t, nil
	}
	zone := s.machineZone()
	if zoneName != "" {
		var err error
		if zone, err = time.LoadLocation(zoneName); err != nil {
			return time.Time{}, usage.Errorf("%s has no zone, and that of the job, %q, is not known here: write it with one, "+
				"such as 2026-11-14T00:00:00Z", in.Flag, zoneName)
		}
	}
	if typed, ok := s.civil(in.Text, zone); ok {
		t := typed.In(zone)
		s.Notef("%s is taken in the zone %s: %s", in.Flag, zone, t.Format(time.RFC3339))
		return t, nil
	}
	return time.Time{}, usage.Errorf("%s must be a time such as 2026-11-14T00:00:00Z, 2026-11-14, \"2026-11-14 09:30\" "+
		"or 09:30, not %q", in.Flag, in.Text)
}

// civil reads a time without a zone. One without a date is of today in the zone given.
func (s *Session) civil(text string, zone *time.Location) (civil.Time, bool) {
	for _, layout := range layouts {
		read, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if strings.HasPrefix(layout, "15") {
			today := s.Clock.Now().In(zone)
			return civil.Date(today.Year(), today.Month(), today.Day(), read.Hour(), read.Minute(), read.Second()), true
		}
		return civil.Of(read), true
	}
	return civil.Time{}, false
}

// Sent is a time as the API takes it; "" for the zero time.
func Sent(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return clock.Text(t)
}
