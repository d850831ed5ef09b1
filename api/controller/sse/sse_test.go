package sse_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/controller/sse"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// A node has so many streams, whoever asks, and a user a share of them. A place that is left is free.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	l := sse.NewLimits(20, 2000, "the user has enough", "the node has enough")
	var leave []func()
	for n := range 2000 {
		free, err := l.Enter(fmt.Sprint("user-", n/20))
		require.NoError(t, err)
		leave = append(leave, free)
	}
	refused := func(user, text string, kind apperror.Kind) {
		_, err := l.Enter(user)
		var refusal *apperror.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, []any{kind, "too_many_streams"}, []any{refusal.Kind, refusal.Code})
		require.Contains(t, err.Error(), text)
		require.Positive(t, refusal.RetryAfterSec)
	}
	refused("somebody-else", "the node has enough", apperror.KindUnavailable)
	refused("user-0", "the user has enough", apperror.KindTooMany)
	leave[0]()
	free, err := l.Enter("somebody-else")
	require.NoError(t, err)
	refused("user-0", "the node has enough", apperror.KindUnavailable)
	free()
	_, err = l.Enter("user-0")
	require.NoError(t, err)
}
