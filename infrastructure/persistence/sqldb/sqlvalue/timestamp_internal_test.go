package sqlvalue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTimesRoundTripAndSortAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
			time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli())
		a, b := time.UnixMilli(ms.Draw(t, "a")), time.UnixMilli(ms.Draw(t, "b"))
		require.Equal(t, a.UTC().Format(layout), TimeText(a))
		var s DBTime
		require.NoError(t, s.Scan([]byte(TimeText(a))))
		require.Equal(t, a.UTC(), s.Time())
		require.Equal(t, a.Before(b), TimeText(a) < TimeText(b))
	})
}

func TestTimesInOtherForms(t *testing.T) {
	var s DBTime
	require.NoError(t, s.Scan("2026-11-20 21:33:00"))
	require.Equal(t, time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC), s.Time())
	require.NoError(t, s.Scan(nil))
	require.True(t, s.Time().IsZero())
	require.Nil(t, TimeArg(time.Time{}))
	for _, wrong := range []any{"", "soon", "2026-11-20T21:33:00.000", "2026-11-2x 21:33:00.000", 7} {
		require.Error(t, s.Scan(wrong), "%v", wrong)
	}
}
