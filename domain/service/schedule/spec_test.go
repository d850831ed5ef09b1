package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Two specs are the same when they mean the same fires, in whichever zone their
// times are written and whenever they were made.
func TestSameSchedules(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	base := schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1000, TimeZone: "UTC", StartTime: noon, Anchor: noon}
	for name, c := range map[string]struct {
		change func(s *schedule.Spec)
		same   bool
	}{
		"nothing":           {func(*schedule.Spec) {}, true},
		"the anchor":        {func(s *schedule.Spec) { s.Anchor = noon.Add(time.Hour) }, true},
		"how it is written": {func(s *schedule.Spec) { s.StartTime = noon.In(time.FixedZone("", 8*3600)) }, true},
		"the start":         {func(s *schedule.Spec) { s.StartTime = noon.Add(time.Second) }, false},
		"the end":           {func(s *schedule.Spec) { s.EndTime = noon }, false},
		"the moment":        {func(s *schedule.Spec) { s.At = noon }, false},
		"the interval":      {func(s *schedule.Spec) { s.IntervalMs = 2000 }, false},
		"the kind":          {func(s *schedule.Spec) { s.Kind = schedule.FixedRate }, false},
	} {
		other := base
		c.change(&other)
		require.Equal(t, c.same, base.Same(other), name)
		require.Equal(t, c.same, other.Same(base), name)
	}
}
