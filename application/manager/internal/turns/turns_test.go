package turns_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

// loop runs a loop whose turns answer what the test sends, and tell how many had failed before.
func loop(t *testing.T, leads func() bool) (
	l *turns.Loop, c *clocktest.Manual, began <-chan int, next chan<- turns.Next,
) {
	t.Helper()
	turn, answer := make(chan int), make(chan turns.Next)
	c = clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ctx, stop := context.WithCancel(t.Context())
	l = &turns.Loop{
		Signal: turns.NewSignal(), Clock: c, Leads: leads, Interval: time.Second,
		Turn: func(ctx context.Context, failures int) turns.Next {
			select {
			case turn <- failures:
			case <-ctx.Done():
				return turns.Next{}
			}
			select {
			case n := <-answer:
				return n
			case <-ctx.Done():
				return turns.Next{}
			}
		},
	}
	done := make(chan struct{})
	go func() {
		l.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return l, c, turn, answer
}

// waits lets the loop go to sleep: it has a timer that nothing has fired.
func waits(t *testing.T, c *clocktest.Manual, began <-chan int) {
	t.Helper()
	require.Eventually(t, func() bool { return c.Timers() > 0 }, 20*time.Second, time.Millisecond)
	select {
	case <-began:
		t.Fatal("a turn began")
	default:
	}
}

func TestALoopLooksAtIntervalsAndWhenItIsWoken(t *testing.T) {
	l, c, began, next := loop(t, func() bool { return true })
	require.Zero(t, <-began)
	next <- turns.Next{Wait: time.Minute}
	waits(t, c, began)
	l.Wake()
	require.Zero(t, <-began)
	l.Wake() // while it looks
	l.Wake()
	next <- turns.Next{Wait: time.Minute}
	require.Zero(t, <-began, "what came meanwhile is one turn")
	next <- turns.Next{Wait: time.Minute, Pause: time.Second}
	waits(t, c, began)
	l.Wake()
	waits(t, c, began) // many signals in a moment are few turns
	c.Advance(time.Second)
	require.Zero(t, <-began)
	next <- turns.Next{Wait: time.Minute}
	waits(t, c, began)
	c.Advance(time.Minute)
	require.Zero(t, <-began)
}

func TestALoopThatFailsIsNotWoken(t *testing.T) {
	l, c, began, next := loop(t, func() bool { return true })
	require.Zero(t, <-began)
	for failed := range 3 {
		next <- turns.Next{Wait: time.Second, Failed: true}
		waits(t, c, began)
		l.Wake()
		waits(t, c, began)
		c.Advance(time.Second)
		require.Equal(t, failed+1, <-began)
	}
	next <- turns.Next{Wait: time.Second}
	require.Zero(t, <-began, "it was woken meanwhile")
}

func TestALoopOfANodeThatDoesNotLeadRests(t *testing.T) {
	lead := make(chan bool, 1)
	lead <- false
	l, c, began, next := loop(t, func() bool { return <-lead })
	waits(t, c, began)
	lead <- true
	l.Wake()
	require.Zero(t, <-began)
	lead <- true // of the turn after the last one
	next <- turns.Next{Wait: time.Second}
}
