package ending_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
)

// An attempt reads from the store what it needs before it begins. A store that is away is no failure of the run.
func TestAnAttemptThatCannotReadWhatItNeeds(t *testing.T) {
	away := fmt.Errorf("read: %w", apperror.Unavailable(errors.New("connection refused")))
	for name, c := range map[string]struct {
		cause, err error
		want       [2]string
	}{
		"the store is away":              {nil, away, [2]string{"WAITING", ""}},
		"it cannot be read at all":       {nil, errors.New("no key"), [2]string{"FAILED", "ERROR"}},
		"the node lost it":               {entity.ErrStopLost, context.Canceled, [2]string{"FAILED", "NODE_LOST"}},
		"the node lost it, store away":   {entity.ErrStopLost, away, [2]string{"FAILED", "NODE_LOST"}},
		"the node stops":                 {entity.ErrStopShutdown, context.Canceled, [2]string{"FAILED", "SHUTDOWN"}},
		"its time is over":               {entity.ErrStopTimeout, away, [2]string{"TIMEOUT", "TIMEOUT"}},
		"a person cancelled it":          {entity.ErrStopCancel, away, [2]string{"CANCELLED", ""}},
		"a read that something else cut": {nil, context.Canceled, [2]string{"WAITING", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.cause != nil {
				cancel(c.cause)
			}
			o := ending.Unread(ctx, "the inputs cannot be read", c.err)
			require.Equal(t, c.want, [2]string{string(o.Status), string(o.Reason)})
			require.Contains(t, o.Message, "the inputs cannot be read: "+c.err.Error())
			require.Equal(t, o.Status == entity.StatusWaiting, o.RetryAfter > 0)
		})
	}
}
