package console

import (
	"strconv"
	"strings"
)

// accepts reports whether a header of the kind of Accept-Encoding takes an encoding. A
// quality of 0 refuses it; * stands for what is not named.
func accepts(header, name string) bool {
	if named := quality(header, name); named >= 0 {
		return named > 0
	}
	return quality(header, "*") > 0
}

// acceptsPage reports whether a header Accept names HTML. A program that takes anything
// does not ask for a page.
func acceptsPage(header string) bool { return quality(header, "text/html") > 0 }

// quality returns how much a header wants a value, 0–1; -1 when it does not name it.
func quality(header, value string) float64 {
	for part := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), value) {
			continue
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			key, number, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if !strings.EqualFold(key, "q") {
				continue
			}
			q, err := strconv.ParseFloat(number, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
		return 1
	}
	return -1
}

// matches reports whether If-None-Match names a tag.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == tag || part == "*" {
			return true
		}
	}
	return false
}
