package httpcall

import (
	"strconv"
	"strings"
)

// maxRanges bounds the statuses and ranges that a job may expect.
const maxRanges = 32

// statuses are the expected statuses: inclusive ranges, as the job wrote them.
type statuses struct {
	text   string
	ranges [][2]int
}

func (s statuses) has(code int) bool {
	for _, r := range s.ranges {
		if code >= r[0] && code <= r[1] {
			return true
		}
	}
	return false
}

// parseStatuses reads a list such as "200,204,300-302".
func parseStatuses(text string) (statuses, bool) {
	parts := strings.Split(text, ",")
	if len(parts) > maxRanges {
		return statuses{}, false
	}
	s := statuses{text: text}
	for _, part := range parts {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, lowOK := parseStatus(from)
		high, highOK := parseStatus(to)
		if !lowOK || !highOK || low > high {
			return statuses{}, false
		}
		s.ranges = append(s.ranges, [2]int{low, high})
	}
	return s, true
}

func parseStatus(text string) (int, bool) {
	text = strings.Trim(text, " ")
	n, err := strconv.Atoi(text)
	return n, err == nil && len(text) == 3 && n >= 200 && n <= 599
}
