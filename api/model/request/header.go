package request

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// maxIdempotencyKey is the length of a key in bytes.
const maxIdempotencyKey = 255

// IfMatch reads the version that the header asks for, or 0 without one. It sets given
// for every header, also for *, which any version matches. A value that is no
// version cannot match: it fails like an old version.
func IfMatch(h http.Header) (version int, given bool, err error) {
	values := h.Values("If-Match")
	if len(values) == 0 {
		return 0, false, nil
	}
	s := strings.TrimSpace(strings.Join(values, ","))
	if s == "*" {
		return 0, true, nil
	}
	n, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(s, "W/"), `"`))
	if err != nil || n < 1 {
		return 0, true, apperror.New(apperror.KindPrecondition, "version_mismatch",
			"If-Match names no version of this object; read it and send its ETag")
	}
	return n, true, nil
}

// ETag is the header's value for a version.
func ETag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// IdempotencyKey reads the header; it is empty when absent.
func IdempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	visible := key != "" && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if len(values) > 1 || len(key) > maxIdempotencyKey || !visible {
		return "", malformed("invalid_idempotency_key",
			"Idempotency-Key must be one value of 1 to %d visible ASCII characters", maxIdempotencyKey)
	}
	return key, nil
}
