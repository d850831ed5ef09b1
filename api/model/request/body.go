package request

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// ReadBody reads the whole body, which the server has bounded.
func ReadBody(r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, fault.New(fault.KindUnsupportedMedia, "unsupported_encoding", "compressed bodies are not read; send the body as it is")
	}
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, fault.New(fault.KindTooLarge, "body_too_large", "the body is over the limit of 1 MiB")
	default:
		return nil, malformed("unreadable_body", "the body could not be read to its end")
	}
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
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, fault.New(fault.KindUnsupportedMedia, "unsupported_media_type", "send the body with Content-Type: application/json")
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return nil, fault.New(fault.KindUnsupportedMedia, "unsupported_charset", "send the body in UTF-8")
	}
	return decode(body)
}
