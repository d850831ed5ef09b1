package schedule

import (
	"strings"
	"time"
	_ "time/tzdata" // zones must load on a machine that has none installed
)

// compileZone loads a zone, UTC if the name is empty or wrong.
func (c *Compiler) compileZone(name string, wrong *problems) *time.Location {
	if name == "" || name == "UTC" {
		return time.UTC
	}
	if message := zoneNameProblem(name); message != "" {
		wrong.add(fieldZone, CodeUnknownZone, message)
		return time.UTC
	}
	zone, err := c.zone(name)
	if err != nil {
		wrong.add(fieldZone, CodeUnknownZone,
			"is not an IANA time zone; use a name such as Asia/Shanghai, America/New_York or UTC")
		return time.UTC
	}
	return zone
}

// zoneNameProblem refuses names that a system may load although IANA has no such zone.
// They mean something else on every machine, or leave the directory of zones.
func zoneNameProblem(name string) string {
	if len(name) > MaxZoneLength {
		return "is too long for an IANA time zone"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', i > 0 && '0' <= c && c <= '9',
			i > 0 && (c == '/' || c == '_' || c == '-' || c == '+'):
		default:
			return "is not an IANA time zone: it holds a character that no such name has"
		}
	}
	switch {
	case name == "Local" || name == "localtime":
		return "must not depend on the machine; name the zone, such as Europe/Berlin"
	case name == "posixrules" || name == "Factory" || strings.HasPrefix(name, "posix/"):
		return "is not an IANA time zone"
	case strings.HasPrefix(name, "right/"):
		return "counts leap seconds, which the clocks of servers do not; leave out right/"
	}
	if city := successor(name); city != "" {
		return "is a POSIX rule kept for old systems; use " + city
	}
	return ""
}

// successor is the zone that took the place of a name built like a POSIX rule.
func successor(name string) string {
	switch name {
	case "EST5EDT":
		return "America/New_York"
	case "CST6CDT":
		return "America/Chicago"
	case "MST7MDT":
		return "America/Denver"
	case "PST8PDT":
		return "America/Los_Angeles"
	}
	return ""
}
