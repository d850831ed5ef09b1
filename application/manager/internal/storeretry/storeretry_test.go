package storeretry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/storeretry"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestAReadOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	away, refused := apperror.New(apperror.KindUnavailable, "away", "the store does not answer"), errors.New("refused")
	for name, c := range map[string]struct {
		answers []error
		want    error
		calls   int
	}{
		"the store answers":       {[]error{nil}, nil, 1},
		"it comes back":           {[]error{away, away, nil}, nil, 3},
		"an answer nobody knows":  {[]error{&repository.UnknownError{Err: refused}, nil}, nil, 2},
		"another error ends it":   {[]error{away, refused, nil}, refused, 2},
		"the caller's time ended": {[]error{away, away, away, away, away, away, away}, away, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
				defer cancel()
				calls := 0
				err := storeretry.Read(ctx, clock.NewSystem(), func() error {
					calls++
					return c.answers[calls-1]
				})
				require.ErrorIs(t, err, c.want)
				require.Equal(t, c.calls, calls)
			})
		})
	}
}
