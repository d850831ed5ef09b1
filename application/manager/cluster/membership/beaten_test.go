package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Beats that follow each other within three seconds are one series; a failed beat, silence and sleep begin a new one.
func TestBeatsAreCountedWithoutAGap(t *testing.T) {
	now := time.Minute
	l := NewLease(func() time.Duration { return now })
	pass := func(d time.Duration, good bool) {
		now += d
		l.note(good)
	}
	require.Zero(t, l.Beaten(), "none yet")
	require.True(t, l.Beating(), "none has failed")
	pass(0, true)
	for range 10 {
		pass(3*time.Second, true)
	}
	require.Equal(t, 30*time.Second, l.Beaten())
	now += 3 * time.Second
	require.Equal(t, 33*time.Second, l.Beaten())
	now += time.Millisecond
	require.Zero(t, l.Beaten(), "nobody has heard of the store for longer")
	pass(0, true)
	require.Zero(t, l.Beaten(), "a new series")
	pass(time.Second, true)
	pass(time.Second, false)
	require.Zero(t, l.Beaten())
	require.False(t, l.Beating())
	pass(time.Second, true)
	pass(time.Second, true)
	require.Equal(t, time.Second, l.Beaten())
	require.True(t, l.Beating())
}
