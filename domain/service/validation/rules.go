package validation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The values of each enumeration; the first is the default.
var (
	jobTypes        = []entity.JobType{entity.JobHTTP, entity.JobCommand, entity.JobCustom, entity.JobWorkflow}
	misfirePolicies = []entity.MisfirePolicy{entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll}
	backoffs        = []entity.Backoff{entity.BackoffFixed, entity.BackoffLinear, entity.BackoffExponential}
	overlapPolicies = []entity.OverlapPolicy{
		entity.OverlapParallel, entity.OverlapSerial, entity.OverlapDiscard, entity.OverlapReplace,
	}
	strategies = []entity.RoutingStrategy{
		entity.RouteAny, entity.RouteRoundRobin, entity.RouteRandom, entity.RouteWeighted, entity.RouteLeastLoaded,
		entity.RouteConsistentHash, entity.RouteFirst, entity.RouteLast, entity.RouteLFU, entity.RouteLRU,
		entity.RouteFailover, entity.RouteBusyOver,
	}
	nodeLosses = []entity.OnNodeLoss{entity.NodeLossRetry, entity.NodeLossFail}
	// attemptReasons are those that an attempt can fail with.
	attemptReasons = []entity.Reason{
		entity.ReasonError, entity.ReasonTimeout, entity.ReasonExitCode, entity.ReasonHTTPStatus, entity.ReasonBodyMismatch,
		entity.ReasonPanic, entity.ReasonInvalid, entity.ReasonNodeLost, entity.ReasonShutdown,
	}
)

func oneOf[T ~string](c *checker, field string, value T, allowed []T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := convert.All(allowed, func(a T) string { return string(a) })
	if value == "" {
		c.add(field, CodeRequired, "choose one of %s", strings.Join(names, ", "))
		return
	}
	c.add(field, CodeUnknown, "choose one of %s instead of %q", strings.Join(names, ", "), Text(string(value), 50))
}

// between reports whether the number is in the range, and adds it if not.
func (c *checker) between(field string, n, low, high int64) bool {
	if n >= low && n <= high {
		return true
	}
	c.add(field, CodeOutOfRange, "must be between %d and %d; it is %d", low, high, n)
	return false
}

// line checks a text of one line, such as a name; text also allows line breaks,
// tabs and what is not seen.
func (c *checker) line(field, s string, most int) bool {
	if strings.ContainsAny(s, "\n\r\t") {
		c.add(field, CodeInvalid, "remove line breaks and tabs")
		return false
	}
	return c.text(field, s, most) && c.seen(field, s)
}

func (c *checker) text(field, s string, most int) bool {
	if !validText(s) {
		c.add(field, CodeInvalid, "remove control characters and use UTF-8")
		return false
	}
	if n := utf8.RuneCountInString(s); n > most {
		c.add(field, CodeTooLong, "shorten it to at most %d characters; it has %d", most, n)
		return false
	}
	return true
}

// validText reports UTF-8 without control characters other than line breaks
// and tabs.
func validText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, harmful)
}

func harmful(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// simple names can stand in an address without escapes that people would see,
// in whatever script they are written.
func simple(name string) bool {
	for i, r := range name {
		plain := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !plain && (i == 0 || r != '-' && r != '_' && r != '.' && !unicode.IsMark(r)) {
			return false
		}
	}
	return true
}

// Labels lists what is wrong with labels.
func Labels(field string, labels map[string]string) []apperror.Field {
	c := &checker{}
	c.labels(field, labels)
	return c.fields
}
