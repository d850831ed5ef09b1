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

// statusOf maps the kinds of errors to HTTP.
func statusOf(k apperror.Kind) int {
	switch k {
	case apperror.KindInvalid:
		return http.StatusUnprocessableEntity
	case apperror.KindNotFound:
		return http.StatusNotFound
	case apperror.KindConflict:
		return http.StatusConflict
	case apperror.KindPrecondition:
		return http.StatusPreconditionFailed
	case apperror.KindUnauthenticated:
		return http.StatusUnauthorized
	case apperror.KindForbidden:
		return http.StatusForbidden
	case apperror.KindUnavailable:
		return http.StatusServiceUnavailable
	case apperror.KindTooMany:
		return http.StatusTooManyRequests
	case apperror.KindMalformed:
		return http.StatusBadRequest
	case apperror.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case apperror.KindUnsupportedMedia:
		return http.StatusUnsupportedMediaType
	default:
		return http.StatusInternalServerError
	}
}

// From maps an error. An error of no known kind is an internal error whose text
// stays inside. It never returns a status below 400.
func From(err error) Problem {
	var f *apperror.Error
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return New(http.StatusServiceUnavailable, "outcome_unknown",
			"the store did not confirm the change: it may or may not have taken effect; look before you repeat the call")
	case errors.As(err, &f):
		p := New(statusOf(f.Kind), f.Code, f.Message)
		if p.Status == http.StatusInternalServerError {
			return internal()
		}
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
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return "outcome_unknown", "the store did not confirm the change; look before repeating"
	case errors.As(err, &f):
		message = f.Message
		for _, field := range f.Fields {
			message += "; " + field.Field + ": " + field.Message
		}
		return f.Code, message
	}
	return "internal", "something went wrong; the log of the server knows more"
}
