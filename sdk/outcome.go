package sdk

import (
	"errors"
	"time"
)

// Fatal marks err as final: the run fails at once, whatever retries its job
// has. The text and the chain of err stay as they are. Fatal of nil is nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

// IsFatal reports whether an error in the chain of err was marked by Fatal.
func IsFatal(err error) bool {
	var f *fatalError
	return errors.As(err, &f)
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// RetryAfter asks for the next attempt after d, instead of the wait of the job's policy. A target
// that answers "slow down" is a reason for it. It adds no retry to those of the policy. A d of 0
// or less leaves the policy's wait, and a wait over 24 hours is cut to that. RetryAfter of a nil
// error is nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{err, d}
}

// RetryDelay is the wait that RetryAfter put into the chain of err; the
// outermost one counts. It is false when there is none or it is not positive.
func RetryDelay(err error) (time.Duration, bool) {
	var r *retryError
	if !errors.As(err, &r) || r.after <= 0 {
		return 0, false
	}
	return r.after, true
}

type retryError struct {
	err   error
	after time.Duration
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }
