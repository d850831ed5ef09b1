package batch

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that Guard has caught. Its text holds the value alone;
// the stack is for the log.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Guard runs do and returns a panic of it as a *PanicError: one bad row, job
// or schedule must not end the process, or it would end node after node (engine
// rule 10). A transaction that a panic leaves is rolled back by its store. Changes
// that do made in memory before it panicked stay.
func Guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return do()
}

// StackTrace returns the stack of the goroutine that panicked.
func (e *PanicError) StackTrace() string { return string(e.Stack) }

// StackOf is where an error panicked, empty for one that is no panic.
func StackOf(err error) string {
	var panicked *PanicError
	if errors.As(err, &panicked) {
		return panicked.StackTrace()
	}
	return ""
}
