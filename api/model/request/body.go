package request

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
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
