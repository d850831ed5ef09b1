package validation

import (
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// TokenLife is the longest that a token may be good for.
const TokenLife = 366 * 24 * time.Hour

// Token lists what is wrong with the name of a token, of at most so many characters, and with the end of its life.
func Token(name string, most int, ends, now time.Time) (wrong []apperror.Field) {
	remedy := Line(name, most)
	if name == "" || strings.TrimSpace(name) != name {
		remedy = fmt.Sprintf("must have 1 to %d characters, without spaces around them", most)
	}
	if remedy != "" {
		wrong = append(wrong, apperror.Field{Field: "name", Code: CodeInvalid, Message: remedy})
	}
	switch {
	case ends.IsZero():
		wrong = append(wrong, apperror.Field{
			Field: "expiresAt", Code: CodeRequired, Message: "is required: a time within the next 366 days",
		})
	case !ends.After(now) || ends.Sub(now) > TokenLife:
		wrong = append(wrong, apperror.Field{
			Field: "expiresAt", Code: CodeOutOfRange, Message: "must be a time within the next 366 days",
		})
	}
	return wrong
}
