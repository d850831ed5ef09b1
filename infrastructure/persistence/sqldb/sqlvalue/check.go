package sqlvalue

import (
	"fmt"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxTextBytes is what a TEXT column holds.
const maxTextBytes = 65535

// CheckTexts refuses free text that is too long or not UTF-8.
func CheckTexts(id, message, result string, more ...string) error {
	if len(message) > maxTextBytes || len(result) > maxTextBytes {
		return Poison(id, "error_message and result must be at most %d bytes", maxTextBytes)
	}
	for _, s := range append(more, message, result) {
		if s != "" && !utf8.ValidString(s) {
			return Poison(id, "a text is not valid UTF-8")
		}
	}
	return nil
}

// IsASCII reports whether a text has ASCII characters alone.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Poison is a repository.PoisonError that names the row by its id.
func Poison(id, format string, args ...any) error {
	return &repository.PoisonError{Err: fmt.Errorf("row %q: "+format, append([]any{id}, args...)...)}
}
