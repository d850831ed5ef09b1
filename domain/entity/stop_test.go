package entity_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestCausesOfAnEndAreToldApart(t *testing.T) {
	t.Parallel()
	causes := map[string]error{
		"timeout": entity.ErrStopTimeout, "cancel": entity.ErrStopCancel,
		"shutdown": entity.ErrStopShutdown, "lost": entity.ErrStopLost,
	}
	for reason, cause := range causes {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(fmt.Errorf("stop the attempt: %w", cause))
		var told interface{ StopReason() string }
		require.ErrorAs(t, context.Cause(ctx), &told)
		require.Equal(t, reason, told.StopReason())
		for other, err := range causes {
			require.Equal(t, other == reason, errors.Is(context.Cause(ctx), err), "%s and %s", reason, other)
		}
	}
}
