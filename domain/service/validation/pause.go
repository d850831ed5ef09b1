package validation

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Pause lists what is wrong with a pause that a caller asks for at now.
func Pause(p entity.Pause, now time.Time) []apperror.Field {
	var fields []apperror.Field
	add := func(field, code, message string) {
		fields = append(fields, apperror.Field{Field: field, Code: code, Message: message})
	}
	if n := utf8.RuneCountInString(p.Reason); n > entity.MaxPauseReason {
		add("reason", "too_long", fmt.Sprintf("has %d characters; at most %d are kept", n, entity.MaxPauseReason))
	}
	if Text(p.Reason, len(p.Reason)) != p.Reason {
		add("reason", "invalid_text", "must be plain text without control characters")
	}
	if !p.Until.IsZero() && !p.Until.After(now) {
		add("until", "in_past", "must lie ahead; leave it out for a pause without an end")
	}
	if p.Until.Year() > cronexpr.MaxYear {
		add("until", "out_of_range", fmt.Sprintf("must not be after the year %d", cronexpr.MaxYear))
	}
	return fields
}
