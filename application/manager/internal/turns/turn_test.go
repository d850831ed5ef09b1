package turns_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
)

func TestWhoeverWaitsForATurnGivesUpWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := turns.NewTurn()
		require.NoError(t, turn.Take(t.Context()))
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, turn.Take(bounded), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		got := make(chan error)
		go func() { got <- turn.Take(t.Context()) }()
		synctest.Wait()
		turn.Give()
		require.NoError(t, <-got)
		turn.Give()
		require.NoError(t, turn.Take(bounded), "a free turn asks nobody for time")
	})
}
