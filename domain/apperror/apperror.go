// Package apperror holds the kinds of error that a use case can end in. They carry what
// the caller needs to mend the call. The API maps them to problems in one place; no other
// part of the product knows of HTTP statuses.
package apperror

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies an Error for the edge.
type Kind int

// The kinds of Error.
const (
	// KindInvalid: fields of the request are wrong; Fields names all of them.
	KindInvalid Kind = iota + 1
	// KindNotFound: the object does not exist, or the caller may not see it.
	KindNotFound
	// KindConflict: the object's state forbids the operation.
	KindConflict
	// KindPrecondition: an If-Match did not hold.
	KindPrecondition
	// KindUnauthenticated: nobody, or somebody unknown, is calling.
	KindUnauthenticated
	// KindForbidden: the caller lacks the permission.
	KindForbidden
	// KindUnavailable: the store is away; the call may be repeated later.
	KindUnavailable
	// KindTooMany: the caller must slow down.
	KindTooMany
	// KindMalformed: the request could not be read at all.
	KindMalformed
	// KindTooLarge: the request is over a size limit.
	KindTooLarge
	// KindUnsupportedMedia: the body is not of a type that is read here.
	KindUnsupportedMedia
)

// Field is one wrong field of a request. It has its JSON path, a stable code for programs,
// and a message that tells people what to do.
type Field struct {
	Field   string
	Code    string
	Message string
}

// Error is an expected end of a use case. Code is stable and machine readable.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Fields  []Field
	// RetryAfterSec is a hint for KindUnavailable and KindTooMany; 0 is none.
	RetryAfterSec int
	cause         error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "; %s: %s", f.Field, f.Message)
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	return b.String()
}

// Unwrap gives the cause, if any.
func (e *Error) Unwrap() error { return e.cause }

// Invalid reports wrong fields, all at once. It returns nil for no fields, so
// that a validation can end in `return apperror.Invalid(fields)`.
func Invalid(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Kind: KindInvalid, Code: "invalid", Message: "some fields are invalid", Fields: fields}
}

// InvalidFields are the wrong fields that an error reports; none where it reports anything else.
func InvalidFields(err error) []Field {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindInvalid {
		return e.Fields
	}
	return nil
}

// InvalidField reports one wrong field.
func InvalidField(field, code, message string) error {
	return Invalid([]Field{{Field: field, Code: code, Message: message}})
}

// NotFound reports that no object of that kind has the id.
func NotFound(what, id string) error {
	return &Error{Kind: KindNotFound, Code: "not_found", Message: fmt.Sprintf("no %s has the id %q", what, id)}
}

// Conflict reports that the state of an object forbids the operation.
func Conflict(code, format string, args ...any) error {
	return &Error{Kind: KindConflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unavailable reports that the store cannot be reached; the cause is kept for
// the log and never shown to the client.
func Unavailable(cause error) error {
	return &Error{
		Kind: KindUnavailable, Code: "store_unavailable", Message: "the store is unavailable, try again",
		RetryAfterSec: 5, cause: cause,
	}
}

// New builds an Error of any other kind.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Is reports whether err is an Error of that kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
