package remote_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

// New York leaves out 2027-03-14 02:00 to 03:00, Berlin 2027-03-28 02:00 to 03:00 (tz database).
func TestATimeThatTheClockLeavesOutIsSentAsItWasTyped(t *testing.T) {
	s := remote.New(io.Discard, io.Discard, []string{"TZ=UTC"}, clocktest.NewManual(
		time.Date(2027, 3, 14, 12, 0, 0, 0, time.UTC)))
	for _, c := range []struct{ zone, typed, sent string }{
		{"America/New_York", "2027-03-14 02:30", "2027-03-14T02:30:00"},
		{"America/New_York", "02:30", "2027-03-14T02:30:00"},
		{"Europe/Berlin", "2027-03-28T02:59:59", "2027-03-28T02:59:59"},
		{"Europe/Berlin", "2027-03-28 03:00", "2027-03-28T01:00:00.000Z"},
		{"Europe/Berlin", "2027-03-28T02:30:00+01:00", "2027-03-28T01:30:00.000Z"},
		{"", "2027-03-28 02:30", "2027-03-28T02:30:00.000Z"},
	} {
		got, err := remote.WallMoment(&remote.Call{Session: s, ZoneName: c.zone}, remote.Input{Flag: "--at", Text: c.typed})
		require.NoError(t, err)
		require.Equal(t, c.sent, got, c.typed)
	}
}
