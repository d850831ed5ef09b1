package entity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// The deadline is the first such time of the day after the fire, where clocks change, too.
func TestTheDeadlineOfAFire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, zone, fire, want string }{
		{"06:00", "UTC", "2026-11-22T02:00:00Z", "2026-11-22T06:00:00Z"},
		{"06:00", "UTC", "2026-11-22T06:00:00Z", "2026-11-23T06:00:00Z"},
		{"06:00:30", "Asia/Shanghai", "2026-11-21T20:00:00Z", "2026-11-21T22:00:30Z"},
		{"06:00", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T04:00:00Z"}, // 23 hours long
		{"06:00", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T05:00:00Z"}, // 25 hours long
		{"02:30", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"}, // there is no 02:30
		{"02:30", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"}, // the first of two
	} {
		d := entity.JobDeadline{At: c.at, TimeZone: c.zone}
		spec, err := d.Spec()
		require.NoError(t, err)
		times, err := schedule.NewCompiler().Compile(spec)
		require.NoError(t, err)
		fire, err := time.Parse(time.RFC3339, c.fire)
		require.NoError(t, err)
		next, ok := times.Next(fire)
		require.True(t, ok)
		require.Equal(t, c.want, next.UTC().Format(time.RFC3339), "%s after %s in %s", c.at, c.fire, c.zone)
	}
}
