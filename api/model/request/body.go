package request

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// ReadBody reads the whole body, which the server has bounded.
func ReadBody(r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, apperror.New(apperror.KindUnsupportedMedia, "unsupported_encoding",
			"compressed bodies are not read; send the body as it is")
	}
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, apperror.New(apperror.KindTooLarge, "body_too_large",
			"the body is over the limit of "+Size(tooLarge.Limit))
	default:
		return nil, malformed("unreadable_body", "the body could not be read to its end")
	}
}

// Size writes a bound on bytes for people.
func Size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// parse reads the body as one JSON object.
func parse(r *http.Request, mayBeEmpty bool) (*object, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	if mayBeEmpty && len(body) == 0 {
		return &object{fields: map[string]any{}}, nil
	}
	if _, err := mediaType(r.Header, typeJSON); err != nil {
		return nil, err
	}
	return decode(r.Context(), body, maxBodyValues)
}

// typeJSON is the type of every body; documents may have others too.
const typeJSON = "application/json"

// mediaType is the type of a body, which must be one of those that are read.
func mediaType(h http.Header, read ...string) (string, error) {
	if h.Get("Content-Type") == typeJSON && slices.Contains(read, typeJSON) {
		return typeJSON, nil // as each worker sends it every few seconds
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !slices.Contains(read, kind) {
		return "", apperror.New(apperror.KindUnsupportedMedia, "unsupported_media_type",
			"send the body with Content-Type: "+strings.Join(read, " or "))
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return "", apperror.New(apperror.KindUnsupportedMedia, "unsupported_charset", "send the body in UTF-8")
	}
	return kind, nil
}

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
