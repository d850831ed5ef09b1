package remote_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

// session is one whose clock shows 2026-11-14 20:00 UTC, in New York.
func session(t *testing.T, args ...string) (*remote.Session, *bytes.Buffer) {
	t.Helper()
	var errOut bytes.Buffer
	s := remote.New(&bytes.Buffer{}, &errOut, []string{"TZ=America/New_York"},
		clocktest.NewManual(time.Date(2026, 11, 14, 20, 0, 0, 0, time.UTC)))
	c := s.Flags(&cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }})
	c.SetArgs(args)
	require.NoError(t, c.Execute())
	return s, &errOut
}

// A time without a zone is taken in that of the job, and said to be; today is the
// day there.
func TestTimesWithoutAZoneAreTakenInThatOfTheJob(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-14T00:00:00Z":          "2026-11-14T00:00:00.000Z",
		"2026-11-14T00:00:00.250+08:00": "2026-11-13T16:00:00.250Z",
		"2026-11-14":                    "2026-11-13T16:00:00.000Z",
		"2026-11-14T09:30":              "2026-11-14T01:30:00.000Z",
		"2026-11-14 09:30:01":           "2026-11-14T01:30:01.000Z",
		"09:30":                         "2026-11-15T01:30:00.000Z", // it is the 15th there
	} {
		s, errOut := session(t, "--utc")
		at, err := s.Time(remote.Input{Flag: "--from", Text: text}, "Asia/Shanghai")
		require.NoError(t, err, text)
		require.Equal(t, want, remote.Sent(at), text)
		zoned := text[len(text)-1] == 'Z' || text[len(text)-3] == ':' && len(text) > 20
		require.Equal(t, !zoned, bytes.Contains(errOut.Bytes(), []byte("--from is taken in the zone Asia/Shanghai: ")), text)
	}
	s, _ := session(t)
	at, err := s.Time(remote.Input{Flag: "--from", Text: "09:30"}, "")
	require.NoError(t, err)
	require.Equal(t, "2026-11-14T14:30:00.000Z", remote.Sent(at), "of this machine where there is no job")
	at, err = s.Time(remote.Input{Flag: "--from"}, "Asia/Shanghai")
	require.NoError(t, err)
	require.Empty(t, remote.Sent(at))
	for _, text := range []string{"yesterday", "2026-13-01", "9", "2026-11-14 25:00"} {
		_, err := s.Time(remote.Input{Flag: "--from", Text: text}, "UTC")
		require.ErrorIs(t, err, usage.ErrWrong, text)
		require.ErrorContains(t, err, "--from must be a time such as")
	}
	_, err = s.Time(remote.Input{Flag: "--from", Text: "09:30"}, "Mars/Phobos")
	require.ErrorContains(t, err, `"Mars/Phobos", is not known here`)
}

// The clocks of these zones leave out what is typed, or show it twice. The values are those of the tz
// database.
func TestATimeThatClocksLeaveOutIsTheInstantAfterIt(t *testing.T) {
	for _, c := range []struct{ zone, text, want string }{
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00.000Z"}, // not 23:00 on the 7th
		{"America/Havana", "2026-03-08 00:30", "2026-03-08T05:00:00.000Z"},
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"},
		{"America/New_York", "2026-03-08 02:30", "2026-03-08T07:00:00.000Z"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00.000Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"},
		{"Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00.000Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"},
	} {
		s, _ := session(t)
		at, err := s.Time(remote.Input{Flag: "--from", Text: c.text}, c.zone)
		require.NoError(t, err)
		require.Equal(t, c.want, remote.Sent(at), "%s %s", c.zone, c.text)
	}
}

func TestTimesAreShownWithTheirZone(t *testing.T) {
	moment, exact := "2026-07-14T20:00:00.000Z", "2026-11-14T20:00:00.125Z"
	s, _ := session(t)
	require.Equal(t, "2026-07-14 16:00:00-04:00", s.Moment(moment))
	require.Equal(t, "2026-11-14 15:00:00.125-05:00", s.Moment(exact))
	require.Equal(t, "2026-07-15 04:00:00+08:00", remote.In(s.Zone("Asia/Shanghai"), moment))
	require.Equal(t, "2026-07-14 16:00:00-04:00", remote.In(s.Zone("Mars/Phobos"), moment), "the next best")
	require.Empty(t, s.Moment(""))
	s, _ = session(t, "--utc")
	require.Equal(t, "2026-07-14 20:00:00Z", s.Moment(moment))
	require.Equal(t, "2026-07-14 20:00:00Z", remote.In(s.Zone("Asia/Shanghai"), moment))
}
