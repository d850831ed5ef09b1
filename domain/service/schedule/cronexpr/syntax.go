package cronexpr

import (
	"errors"
	"strconv"
)

// ErrNeverFires is wrapped by the SyntaxError of an expression that is well
// formed but matches no day of any year, such as 30 February.
var ErrNeverFires = errors.New("the expression never fires")

// SyntaxError says which field of an expression is wrong and how to mend it.
type SyntaxError struct {
	// Field is "second", "minute", "hour", "day-of-month", "month",
	// "day-of-week" or "year", or "expression" if no single field is at fault.
	Field string
	// Value is the offending part as it was written.
	Value string
	// Message says what is wrong and what to write instead.
	Message string

	cause error
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Value == "" {
		return e.Field + ": " + e.Message
	}
	return e.Field + " " + strconv.QuoteToASCII(e.Value) + ": " + e.Message
}

// Unwrap gives ErrNeverFires where that is the reason, else nil.
func (e *SyntaxError) Unwrap() error { return e.cause }

func wrong(field, value, message string) *SyntaxError {
	return &SyntaxError{Field: field, Value: value, Message: message}
}

const wholeExpression = "expression"
