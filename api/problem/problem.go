// Package problem turns the ends of use cases into HTTP answers (RFC 9457).
// It is the only place that knows which kind of error is which status.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ContentType of every problem.
const ContentType = "application/problem+json"

// Problem is the body of every answer that is not a success.
type Problem struct {
	// Type is a URI reference that names the kind of problem, stable as Code.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail is for people; it never holds internals.
	Detail string `json:"detail"`
	// Code is stable and for programs.
	Code      string  `json:"code"`
	RequestID string  `json:"requestId"`
	Errors    []Error `json:"errors,omitempty"`
	// RetryAfterSec goes out as a header; 0 is none.
	RetryAfterSec int `json:"-"`
}

// Error is one wrong field.
type Error struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// statuses are those of the kinds of errors; any other is an internal error.
var statuses = map[apperror.Kind]int{
	apperror.KindInvalid:          http.StatusUnprocessableEntity,
	apperror.KindNotFound:         http.StatusNotFound,
	apperror.KindConflict:         http.StatusConflict,
	apperror.KindPrecondition:     http.StatusPreconditionFailed,
	apperror.KindUnauthenticated:  http.StatusUnauthorized,
	apperror.KindForbidden:        http.StatusForbidden,
	apperror.KindUnavailable:      http.StatusServiceUnavailable,
	apperror.KindTooMany:          http.StatusTooManyRequests,
	apperror.KindMalformed:        http.StatusBadRequest,
	apperror.KindTooLarge:         http.StatusRequestEntityTooLarge,
	apperror.KindUnsupportedMedia: http.StatusUnsupportedMediaType,
}

// From maps an error. An error of no known kind is an internal error whose text
// stays inside. It never returns a status below 400.
func From(err error) Problem {
	var f *apperror.Error
	var unknown *repository.UnknownError
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return New(http.StatusServiceUnavailable, "outcome_unknown",
			"the store did not confirm the change: it may or may not have taken effect; look before you repeat the call")
	case errors.As(err, &f):
		status, known := statuses[f.Kind]
		if !known {
			return internal()
		}
		p := New(status, f.Code, f.Message)
		for _, field := range f.Fields {
			p.Errors = append(p.Errors, Error{Field: field.Field, Code: field.Code, Message: field.Message})
		}
		p.RetryAfterSec = f.RetryAfterSec
		if p.RetryAfterSec == 0 && (f.Kind == apperror.KindTooMany || f.Kind == apperror.KindUnavailable) {
			p.RetryAfterSec = 1
		}
		return p
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p := New(http.StatusServiceUnavailable, "timeout",
			"the call took too long and was given up; it may or may not have taken effect")
		p.RetryAfterSec = 1
		return p
	case errors.As(err, &unknown): // it may be no error of the program, and most pass
		return From(apperror.Unavailable(unknown))
	default:
		return internal()
	}
}

func internal() Problem {
	return New(http.StatusInternalServerError, "internal",
		"something went wrong on the server; its log holds the cause under the request id")
}

// New builds a problem for a status.
func New(status int, code, detail string) Problem {
	return Problem{
		Type: "urn:platform-scheduler:problem:" + code, Title: http.StatusText(status), Status: status,
		Detail: detail, Code: code,
	}
}

// Write sends the problem. The connection's state after a failure to write is
// the server's business.
func (p Problem) Write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		// Only texts and numbers: this cannot fail, and if it did an empty
		// body with the right status still says enough.
		body = nil
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if p.RetryAfterSec > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfterSec))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="platform-scheduler"`)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// Explain says what callers may know of what failed for one object.
func Explain(err error) (code, message string) {
	var f *apperror.Error
	var unknown *repository.UnknownError
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return "outcome_unknown", "the store did not confirm the change; look before repeating"
	case errors.As(err, &f):
		message = f.Message
		for _, field := range f.Fields {
			message += "; " + field.Field + ": " + field.Message
		}
		return f.Code, message
	case errors.As(err, &unknown):
		return Explain(apperror.Unavailable(unknown))
	}
	return "internal", "something went wrong; the log of the server knows more"
}
