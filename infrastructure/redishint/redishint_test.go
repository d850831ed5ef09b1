package redishint_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redishint"
)

func TestMessagesReachEverySubscriber(t *testing.T) { redistest.Each(t, messagesReachEverySubscriber) }

// Each subscriber has a connection of its own, in a cluster perhaps to another
// node than the one that was told.
func messagesReachEverySubscriber(t *testing.T, cfg config.Redis) {
	space := "ps-test-" + uuid.NewString()
	r := redishint.New(redistest.Open(t, cfg), space)
	ctx, cancel := context.WithCancel(t.Context())
	got := make([]chan string, 2)
	done := make(chan error, 2)
	for i := range got {
		got[i] = make(chan string, 100)
		sub := redishint.New(redistest.Open(t, cfg), space)
		go func() { done <- sub.Subscribe(ctx, func(m []byte) { got[i] <- string(m) }) }()
	}
	// A subscription takes a moment; whoever missed the first hears a later one.
	for i, c := range got {
		require.Eventually(t, func() bool {
			require.NoError(t, r.Publish(t.Context(), []byte("hello")))
			select {
			case m := <-c:
				return m == "hello"
			default:
				return false
			}
		}, 10*time.Second, 10*time.Millisecond, "subscriber %d", i)
	}
	cancel()
	for range got {
		require.NoError(t, <-done)
	}
}

func TestBeaconsGoOut(t *testing.T) { redistest.Each(t, beaconsGoOut) }

func beaconsGoOut(t *testing.T, cfg config.Redis) {
	r := redishint.New(redistest.Open(t, cfg), "ps-test-"+uuid.NewString())
	lit := func() string {
		names, err := r.Lit(t.Context())
		require.NoError(t, err)
		return fmt.Sprint(names)
	}
	require.Equal(t, "[]", lit())
	require.NoError(t, r.Light(t.Context(), "b", 100*time.Millisecond))
	require.NoError(t, r.Light(t.Context(), "a", time.Minute))
	require.Equal(t, "[b a]", lit())
	require.Eventually(t, func() bool { return lit() == "[a]" }, 10*time.Second, 10*time.Millisecond)
}

func TestNobodyThereIsAnError(t *testing.T) {
	r := redishint.New(redistest.Open(t, redistest.Gone(t)), "ps-test")
	require.Error(t, r.Publish(t.Context(), []byte("x")))
	require.Error(t, r.Light(t.Context(), "a", time.Second))
	_, err := r.Lit(t.Context())
	require.Error(t, err)
	require.Error(t, r.Subscribe(t.Context(), func([]byte) { t.Error("a message from nowhere") }))
}
